# SPDX-License-Identifier: GPL-3.0-or-later
"""Data of libraries: no other file keeps changes of meshes and bones, not even by a library override."""

from __future__ import annotations

from collections.abc import Iterable

import bpy


def hindrance(items: Iterable[bpy.types.Object]) -> str:
    """Why the meshes of objects, with weights and shape keys, or their armatures cannot change; empty if they can."""
    for item in items:
        data = item.data
        if data is not None and (data.library is not None or data.override_library is not None):
            if item.library is not None:
                words = f"{item.name} belongs to a library. Make a library override of it, and then make that local"
            else:
                words = f"The {item.type.lower()} of {item.name} belongs to a library. To keep changes, make it local"
            return f"{words}: Object > Relations > Make Local > Selected Objects and Data"
    return ""
