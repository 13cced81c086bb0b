# SPDX-License-Identifier: GPL-3.0-or-later
"""Keys for data-blocks.

Data-blocks themselves are not remembered, because undo and loading replace them.
"""

from __future__ import annotations

import bpy


def key_of(item: bpy.types.ID) -> int | str:
    """A key that is unique to a data-block while a file is open; before Blender 4.1 it changes with the name."""
    return getattr(item, "session_uid", None) or item.name_full
