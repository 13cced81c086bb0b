# SPDX-License-Identifier: MIT
"""Rotation matrices from and to Euler angles, quaternions, rotation vectors, and axes with angles.

Matrices rotate column vectors in a right-handed system, quaternions are (w, x, y, z), and angles are in radians unless
`degrees` is set. Every function takes stacks of rotations of any shape and returns float64.
"""

from .support.rotations import *  # noqa: F403
from .support.rotations import __all__ as __all__
