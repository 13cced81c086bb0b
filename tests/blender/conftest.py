# SPDX-License-Identifier: GPL-3.0-or-later
"""Each test starts with an empty file and the add-on switched on, and must leave no traceback in the log.

``pytest tests/blender`` needs the bpy module in its Python, or run_in_blender.py. By default the add-on comes from the
sources and needs the package sbs in that Python; ``--archive FILE`` installs and tests a built one.
"""

from __future__ import annotations

import importlib
import os
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--archive", type=Path, help="test this built archive of the add-on, not the sources")


def pytest_configure(config: pytest.Config) -> None:
    if "bpy" not in sys.modules:
        # Before bpy starts: neither read nor change what belongs to the user.
        folder = tempfile.TemporaryDirectory(prefix="sbs-blender-")
        config.add_cleanup(folder.cleanup)
        os.environ["BLENDER_USER_RESOURCES"] = folder.name
    # The modules beside bpy can be found once it is there.
    importlib.import_module("bpy")
    addon = importlib.import_module("addon")
    archive = config.getoption("--archive")
    addon.provide(archive and archive.resolve())


@pytest.fixture(autouse=True)
def clean_blender(capfd: pytest.CaptureFixture[str]) -> Iterator[None]:
    import addon
    import bpy

    bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
    addon.enable()
    yield
    addon.disable()
    # What a handler or a draw function raises, Blender prints and forgets.
    captured = capfd.readouterr()
    log = captured.out + captured.err
    assert "Traceback" not in log, log
