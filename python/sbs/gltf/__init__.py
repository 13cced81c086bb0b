# SPDX-License-Identifier: MIT
"""Characters in glTF 2.0 files (.glb, .gltf)."""

from ..rigging.content import FileError, FileWarning

__all__ = ["FileError", "FileWarning"]
