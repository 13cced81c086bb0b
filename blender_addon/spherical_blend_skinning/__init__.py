# SPDX-License-Identifier: GPL-3.0-or-later
"""Spherical blend skinning in Blender: a modifier, weights by capsules, and tools around them."""

from .export.gltf import glTF2ExportUserExtension

__all__ = ["glTF2ExportUserExtension", "register", "unregister"]

bl_info = {
    "name": "Spherical Blend Skinning",
    "description": "Deform characters without candy wrappers, weight by capsules",
    "author": "The spherical-blend-skinning authors",
    "version": (0, 3, 0),
    "blender": (3, 4, 0),
    "location": "Properties > Modifiers, Sidebar > SBS, Weights menu",
    "category": "Rigging",
}


def register() -> None:
    from . import registration

    registration.register()


def unregister() -> None:
    from . import registration

    registration.unregister()
