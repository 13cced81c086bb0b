# SPDX-License-Identifier: GPL-3.0-or-later
"""Make Blender's exporters that are written in C leave out the bellies of muscles, which are there to look at.

In place of the surface of a sculpt they write its mesh.

They write what views show, and call nothing when they begin. So their functions in ``bpy.ops.wm`` are replaced for
scripts, and bellies are hidden while an artist chooses the file to write in a file browser.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, ExitStack
from typing import Any

import bpy

from ..correctives import sculpt
from ..engine.muscles import bellies, muscle_list
from ..settings.given import manager_of
from ..settings.typed import Panel

_NAMES = ("alembic_export", "collada_export", "obj_export", "ply_export", "stl_export", "usd_export")
# Seconds between looks whether the file browser is still open.
_PAUSE = 0.1

_hiding: ExitStack | None = None


class _WithoutBellies:
    """An operator in ``bpy.ops`` that writes no bellies, nor the surface of a sculpt."""

    def __init__(self, operator: Any, without: Callable[[], AbstractContextManager[None]]) -> None:
        self._operator = operator
        self._without = without

    def __call__(self, *context: object, **options: object) -> object:
        with sculpt.aside(), self._without():
            return self._operator(*context, **options)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._operator, name)

    def __repr__(self) -> str:
        return repr(self._operator)


def _browser_drawn(_panel: Panel, context: bpy.types.Context) -> None:
    # Nothing can be changed while something is drawn.
    if _hiding is None and _writes(context.space_data) and not bpy.app.timers.is_registered(_look):
        bpy.app.timers.register(_look, first_interval=0.0)


def _look() -> float | None:
    """Hide bellies and the surface of a sculpt as long as such a file browser is open."""
    global _hiding
    windows = manager_of(bpy.context).windows
    if not any(_writes(area.spaces.active) for window in windows for area in window.screen.areas):
        _show()
        return None
    if _hiding is None:
        _hiding = ExitStack()
        _hiding.enter_context(sculpt.aside())
        _hiding.enter_context(bellies.hidden())
    return _PAUSE


def _writes(space: bpy.types.Space | None) -> bool:
    """Whether a space is a file browser in which the file of such an exporter is chosen."""
    operator = space.active_operator if isinstance(space, bpy.types.SpaceFileBrowser) else None
    return operator is not None and operator.bl_idname in [f"WM_OT_{name}" for name in _NAMES]


def _show() -> None:
    global _hiding
    if _hiding is not None:
        _hiding.close()
        _hiding = None


def register() -> None:
    own: Any = bpy.ops.wm
    for name in set(_NAMES) & set(dir(own)):
        # Collada has hidden objects, too.
        without = muscle_list.left_out if name == "collada_export" else bellies.hidden
        setattr(own, name, _WithoutBellies(getattr(own, name), without))
    # Else each access makes another one.
    bpy.ops.wm = own
    bpy.types.FILEBROWSER_PT_directory_path.append(_browser_drawn)


def unregister() -> None:
    bpy.types.FILEBROWSER_PT_directory_path.remove(_browser_drawn)
    if bpy.app.timers.is_registered(_look):
        bpy.app.timers.unregister(_look)
    _show()
    vars(bpy.ops).pop("wm", None)
