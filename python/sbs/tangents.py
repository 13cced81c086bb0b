# SPDX-License-Identifier: MIT
"""Tangents of a mesh, for normal maps: deformed with it, and kept at right angles to its normals.

A tangent is (x, y, z, handedness): the bitangent is the cross product of normal and tangent times the handedness.
"""

from .skinning.tangents import *  # noqa: F403
from .skinning.tangents import __all__ as __all__
