# SPDX-License-Identifier: GPL-3.0-or-later
"""What tells data-blocks apart.

No data-block itself is remembered, for undo and loading replace those.
"""

from __future__ import annotations

import bpy

__all__ = ["key_of"]


def key_of(item: bpy.types.ID) -> int | str:
    """What tells a data-block from all others while a file is open; before Blender 4.1 it changes with the name."""
    return getattr(item, "session_uid", None) or item.name_full
