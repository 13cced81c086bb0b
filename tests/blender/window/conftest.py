# SPDX-License-Identifier: GPL-3.0-or-later
"""Tests by mouse and keyboard, in a real window of Blender 3.4 on a display of its own.

``pytest tests/blender/window --archive=FILE`` needs that Blender, Xvfb, xdotool and ImageMagick, and no bpy; the
archive is the legacy one. Screenshots are kept where ``--screenshots`` says.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
import scenes
from session import Session


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--archive", type=Path, required=True, help="the legacy archive of the add-on")
    parser.addoption("--screenshots", type=Path, help="folder where screenshots stay")


@pytest.fixture(scope="module")
def blender(pytestconfig: pytest.Config, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Session]:
    """A Blender for each file: menus and panels stay as earlier tests left them."""
    folder = pytestconfig.getoption("--screenshots") or tmp_path_factory.mktemp("window")
    with Session(pytestconfig.getoption("--archive"), folder) as session:
        yield session


@pytest.fixture(autouse=True)
def nothing_is_raised(blender: Session) -> Iterator[None]:
    """What a handler or a draw function raises, Blender prints and forgets."""
    yield
    assert "Traceback" not in blender.log.read_text(), blender.log.read_text()


@pytest.fixture
def character(blender: Session) -> Session:
    """A bent chain of bones, a tube with weights for it, and nothing else; both selected, the armature active."""
    scenes.make_character(blender)
    return blender
