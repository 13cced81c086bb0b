# SPDX-License-Identifier: MIT
"""Characters in glTF 2.0 files (.glb, .gltf)."""
