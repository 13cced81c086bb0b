# SPDX-License-Identifier: GPL-3.0-or-later
"""Each test starts with an empty file and the add-on switched on, and must leave no traceback in the log.

``pytest tests/blender`` needs the bpy module in its Python, or run_in_blender.py. By default the add-on comes from the
sources and needs the package sbs in that Python; ``--archive=FILE`` installs and tests a built one.

A test that is about some versions of Blender alone says so, ``@pytest.mark.blender(since=(5, 1), before=(6, 0))``, and
is not selected in others; ``@pytest.mark.applies(condition)`` does the same for what a Blender, or the library, has.
"""

from __future__ import annotations

import importlib
import os
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from objects import Character


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--archive", type=Path, help="test this built archive of the add-on, not the sources")
    parser.addoption("--operations", type=int, help="how many random operations make a session")
    parser.addoption("--seed", type=int, help="which random operations; by default each Blender has its own")


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "blender(since, before): the versions of Blender that a test is about")
    config.addinivalue_line("markers", "applies(condition): what a test is about is there")
    if "bpy" not in sys.modules:
        # Before bpy starts: neither read nor change the user's files.
        folder = tempfile.TemporaryDirectory(prefix="sbs-blender-")
        config.add_cleanup(folder.cleanup)
        os.environ["BLENDER_USER_RESOURCES"] = folder.name
    # The modules beside bpy can be found once it is there.
    importlib.import_module("bpy")
    addon = importlib.import_module("addon")
    archive = config.getoption("--archive")
    addon.provide(archive and archive.resolve())
    # An extension has its wheel while it is on, and collected tests look into the library.
    addon.enable()


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    # The window tests start a Blender of their own; those of archives need one.
    name = collection_path.name
    return name == "window" or (name == "test_archive.py" and not config.getoption("--archive")) or None


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    import addon
    import bpy

    def applies(item: pytest.Item) -> bool:
        marks = [mark.kwargs for mark in item.iter_markers("blender")]
        versions = all(mark.get("since", (0,)) <= bpy.app.version < mark.get("before", (99,)) for mark in marks)
        return versions and all(mark.args[0] for mark in item.iter_markers("applies"))

    config.hook.pytest_deselected(items=[item for item in items if not applies(item)])
    items[:] = filter(applies, items)
    # The wheels stay: to unpack them for each test takes longer than most tests do.
    addon.disable(wheels=False)


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Where all must be there, a skipped test is a failure."""
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    if os.environ.get("CI") and reporter is not None and reporter.stats.get("skipped"):
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


@pytest.fixture
def character() -> Character:
    """A bound tube and its posed armature, which is no parent."""
    import rigs

    return rigs.make_character()


@pytest.fixture
def importer_of_old_blender(monkeypatch: pytest.MonkeyPatch) -> None:
    """The glTF importer of Blender 3.4 asks for a name that NumPy gave up with 1.24, and has again from 2.0 on."""
    import numpy as np

    if "bool" not in vars(np):
        monkeypatch.setitem(vars(np), "bool", bool)


@pytest.fixture(autouse=True)
def clean_blender(capfd: pytest.CaptureFixture[str]) -> Iterator[None]:
    import addon
    import bpy

    bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
    # Else Blender 3.4 goes on writing to the scene in which a test, by Rigify, read it (`export.exporters`).
    assert bpy.context.layer_collection is not None
    addon.enable(wheels=False)
    addon.spread_no_twists()
    yield
    addon.disable(wheels=False)
    # Blender prints and forgets errors of handlers and draw functions.
    captured = capfd.readouterr()
    log = captured.out + captured.err
    assert "Traceback" not in log, log
