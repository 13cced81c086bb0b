# SPDX-License-Identifier: MIT
"""The formats of files: one table, `FORMATS`, of their readers and writers, and the parts of a character they keep.

A new format is a module beside this one, or a folder as `gltf` is, and a row of the table.
"""

from .baking import bake
from .cluster import Job, bake_on
from .table import FORMATS, Format, recognized, with_role, written

__all__ = ["FORMATS", "Format", "Job", "bake", "bake_on", "recognized", "with_role", "written"]


def __dir__() -> list[str]:
    return sorted(__all__)
