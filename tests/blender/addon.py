# SPDX-License-Identifier: GPL-3.0-or-later
"""The add-on under test: where it comes from, and how it is switched on and off."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import addon_utils
import bpy

ID = "spherical_blend_skinning"
SOURCES = Path(__file__).resolve().parents[2] / "blender_addon"

_name = ""

#: The operators, of which the types of Blender's own know nothing.
ops: Any = bpy.ops.sbs  # type: ignore[attr-defined]


def provide(archive: Path | None) -> None:
    """Make the add-on known to Blender: installed from a built archive, else straight from the sources."""
    global _name
    if archive is None:
        sys.path.insert(0, str(SOURCES))
        _name = ID
    elif bpy.app.version >= (4, 2, 0):
        bpy.ops.extensions.package_install_files(
            filepath=str(archive), repo="user_default", enable_on_install=False, overwrite=True
        )
        _name = f"bl_ext.user_default.{ID}"
    else:
        bpy.ops.preferences.addon_install(filepath=str(archive), overwrite=True)
        _name = ID


def name() -> str:
    return _name


def module(path: str = "") -> ModuleType:
    """A module of the add-on by its path within it, such as ``"capsules.bones"``."""
    return importlib.import_module(f"{_name}.{path}" if path else _name)


def enable(wheels: bool = True, default_set: bool = True) -> ModuleType:
    """Switch the add-on on; an error in doing so is raised, not printed. Its wheels are installed unless they are.

    Without ``default_set`` it is for this session, and Blender's preferences know nothing of it.
    """
    enable_by_name: Any = addon_utils.enable
    enabled: ModuleType | None = enable_by_name(_name, default_set=default_set, handle_error=_fail, **_options(wheels))
    assert enabled is not None, f"{_name} was not found"
    return enabled


def spread_no_twists() -> None:
    """Let newly bound meshes be without the twists that they spread by default: tests of those switch them on."""
    preferences().spread_twist = False


def preferences() -> Any:
    assert bpy.context.preferences is not None
    return bpy.context.preferences.addons[_name].preferences


def disable(wheels: bool = True) -> None:
    """Switch it off, and take its wheels away unless they are to stay."""
    addon_utils.disable(_name, default_set=True, handle_error=_fail, **_options(wheels))


def _options(wheels: bool) -> dict[str, bool]:
    """Options to leave wheels alone, where Blender knows extensions."""
    return {} if wheels or bpy.app.version < (4, 2, 0) else {"refresh_handled": True}


def _fail(error: Exception) -> None:
    raise error
