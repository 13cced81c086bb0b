# SPDX-License-Identifier: MIT
# A front for people: sets up a virtual environment in .venv and runs meson, pip and pytest in it.
#
#     make demo     the picture of the README and its table, into build/demo
#     make test     the tests of the C library and of the Python package
#     make docs     the site, into build/site
#     make wheel    a wheel, into dist; make wheels: those of all platforms, for which clang is fetched as a package
#     make dist-c   the C library as archives for Linux, Windows and macOS, into dist
#     make bench    what deforming costs, in three minutes; make bench-peers: beside other libraries, in eight
#     make bench-blender   what the Blender add-on costs, beside Blender's Armature modifier, in two minutes
#     make lint     linters, formatters and the type checker; make format corrects what it can
#     make clean    remove all that make has made
#
# Python 3.11 or newer with its headers, a C compiler and make must be there: make test PYTHON=python3.12

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

# meson, ninja and numpy-config live in the virtual environment.
export PATH := $(CURDIR)/$(BIN):$(PATH)
export PIP_DISABLE_PIP_VERSION_CHECK := 1
export PIP_REQUIRE_VIRTUALENV := 1

C_FILES = $(shell find csrc docs/try tests/c benchmarks/native -name '*.[ch]' -o -name '*.cpp' -o -name '*.inc')

# With the tools of the virtual environment, in a folder that stays: the second build compiles what has changed.
BUILD_HERE := --no-build-isolation --config-settings=build-dir=build/c
# The same with the C tests, which are linked with what the extension is: all is compiled once.
BUILD_WITH_TESTS := $(BUILD_HERE) --config-settings=setup-args=-Dtests=true

# With MACHINE=name results go to the folder that is committed, and those of bench-peers into docs/performance.md too.
# OZZ_DIR names a checkout of ozz-animation. BLENDER_PYTHON is the Python that Blender's module is made for; empty
# leaves it out.
RESULTS = $(if $(MACHINE),benchmarks/results/$(MACHINE),build/bench/results).json
PHASES := build/bench/benchmarks/native/phases
BLENDER_PYTHON ?= python3.11
BLENDER = $(BLENDER_PYTHON:%=build/blender/bin/python)

.DELETE_ON_ERROR:
.PHONY: demo test test-c test-python docs wheel wheels dist-c bench bench-peers bench-blender \
        bench-check lint format clean

demo: $(VENV)/demo
	sbs demo --output build/demo

test: test-c test-python

# Where a wheel was built since, the tests are no part of the build.
test-c: $(VENV)/installed
	meson configure build/c -Dtests=true
	meson test -C build/c --print-errorlogs

test-python: $(VENV)/installed
	python -m pytest --numprocesses=auto

# Warnings are errors, and so are links that lead nowhere. What is on the first page is the library as WebAssembly.
docs: $(VENV)/docs $(VENV)/cross build/three/index.js
	python tools/wasm_page.py build/page
	python tools/three_page.py build/three build/page
	rm -rf build/site
	python -m sphinx --quiet --fail-on-warning --keep-going -d build/doctrees docs build/site
	python tools/check_site.py build/site

wheel: $(VENV)/requirements.txt
	python -m pip wheel --no-deps $(BUILD_HERE) --wheel-dir=dist .

wheels: $(VENV)/cross
	python tools/cross_wheels.py
	python tools/check_wheels.py dist

dist-c: $(VENV)/cross
	python tools/dist_c.py

bench: $(VENV)/benchmarks
	python -m benchmarks run --program $(PHASES) --output $(RESULTS)
	for feature in bones twist muscles correctives gradient centers; do python -m benchmarks $$feature || exit; done

bench-peers: $(VENV)/benchmarks $(VENV)/peers $(BLENDER)
	python -m benchmarks run --program $(PHASES) --output $(RESULTS) --peers $(BLENDER:%=--blender %)
	$(if $(MACHINE),python -m benchmarks performance $(RESULTS))

# The add-on from its sources, with the package of this checkout.
bench-blender: $(BLENDER) wheel
	$(BLENDER) -m pip install --quiet --no-deps --no-index --find-links=dist --force-reinstall spherical-blend-skinning
	$(BLENDER) benchmarks/addon.py

bench-check: $(VENV)/benchmarks
	python -m benchmarks check --program $(PHASES)

lint: $(VENV)/linters
	ruff check
	ruff format --check
	mypy
	mypy --config-file tests/blender/mypy.ini
	python -m mypy.stubtest --mypy-config-file pyproject.toml sbs._core
	python tools/core_stub.py --check
	python tools/shaders.py --check
	python tools/check_layers.py
	python tools/check_names.py
	@echo 'clang-format --dry-run --Werror, and no line beyond 120 columns'
	@clang-format --dry-run --Werror $(C_FILES)
	@! grep -nE '^.{121}' $(C_FILES)

format: $(VENV)/linters
	ruff check --fix
	ruff format
	clang-format -i $(C_FILES)

# three.js r180, which the wheel of NiceGUI has, for the site and its tests; the licence of both is MIT.
build/three/index.js:
	python -m pip download --quiet --no-deps --dest build/three nicegui==3.18.0
	python -m zipfile -e build/three/nicegui-3.18.0-py3-none-any.whl build/three
	cp build/three/nicegui/elements/scene/dist/index.js $@

clean:
	rm -rf build dist $(VENV)

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.version_info >= (3, 11) or sys.exit("sbs needs Python 3.11 or newer, this is " \
	  + sys.version.split()[0] + "; name another one: make PYTHON=python3.12")'
	$(PYTHON) -m venv $(VENV)

# What builds the package, as pyproject.toml has it.
$(VENV)/requirements.txt: pyproject.toml | $(BIN)/python
	python -c 'import tomllib; \
	  print(*tomllib.load(open("pyproject.toml", "rb"))["build-system"]["requires"], sep="\n")' > $@
	python -m pip install --quiet --requirement $@

# The package as users get it, a copy and not a link, built again when a source is newer.
SOURCES := meson.build meson.options $(shell find csrc python tools -type f -not -name '*.py[co]' -not -name '*.so*')

$(VENV)/installed: $(VENV)/requirements.txt $(SOURCES)
	python -m pip install --quiet $(BUILD_WITH_TESTS) '.[picture,test]'
	touch $@ $(VENV)/demo

# What pictures need and no more.
$(VENV)/demo: $(VENV)/requirements.txt $(SOURCES)
	python -m pip install --quiet $(BUILD_HERE) '.[picture]'
	touch $@

# Sphinx among them, whose types those of docs/extensions are checked by.
$(VENV)/linters: $(VENV)/docs
	python -m pip install --quiet $(BUILD_WITH_TESTS) '.[dev]'
	touch $@

$(VENV)/cross: $(VENV)/requirements.txt tools/cross/requirements.txt
	python -m pip install --quiet --requirement tools/cross/requirements.txt
	touch $@

$(VENV)/docs: $(VENV)/installed docs/requirements.txt
	python -m pip install --quiet --requirement docs/requirements.txt
	touch $@

$(VENV)/benchmarks: $(VENV)/installed benchmarks/requirements.txt $(shell find benchmarks/native -type f)
	python -m pip install --quiet --requirement benchmarks/requirements.txt
	test -e build/bench/build.ninja || meson setup build/bench -Dbenchmarks=true -Dtests=false
	ninja -C build/bench
	touch $@

$(VENV)/peers: $(VENV)/benchmarks benchmarks/requirements-peers.txt
	python -m pip install --quiet --requirement benchmarks/requirements-peers.txt
	touch $@

build/blender/bin/python:
	rm -rf build/blender build/blender.new
	$(BLENDER_PYTHON) -m venv build/blender.new
	build/blender.new/bin/python -m pip install --quiet 'bpy==4.5.*'
	mv build/blender.new build/blender
