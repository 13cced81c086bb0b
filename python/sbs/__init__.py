# SPDX-License-Identifier: MIT
"""Spherical blend skinning: deform characters by their skeletons.

Conventions: vectors are columns and matrices row-major with the translation in the last column, the system is
right-handed, quaternions are (w, x, y, z), and units are the caller's.
"""

import os
import re
import warnings
from typing import TYPE_CHECKING, Any

from . import options, rotations, tangents
from ._core import LinAlgError, build_info, get_threads, set_threads
from ._core import version as __version__
from .characters.character import Character, Mesh, MeshPart
from .characters.limbs import TwistBone, limb_twist, twist_amounts, twist_bones
from .characters.loading import load, load_motion
from .rigging.animation import Animation, Animations
from .rigging.blending import BonesBlending, bones_blending
from .rigging.motion import Motion
from .rigging.shapes import BlendShape, ShapeDriver, ShapeMotion
from .rigging.skeleton import Skeleton
from .skinning.centers import CenterWarning, optimized_centers
from .skinning.gradients import DeformGradients
from .skinning.options import Center, DeformOptions, InverseOptions, Method, MethodOptions, Rotation
from .skinning.reports import PoseReport, SingularVertexWarning, WeightReport, WeightWarning
from .skinning.skin import Skin
from .skinning.twist import Twist, TwistTracker

if TYPE_CHECKING:
    from . import correctives, formats, gpu, linear, mesh, muscles, poses, quality, samples, weights
    from .correctives.flesh import Flesh

__all__ = [
    "Animation",
    "Animations",
    "BlendShape",
    "BonesBlending",
    "Center",
    "CenterWarning",
    "Character",
    "DeformGradients",
    "DeformOptions",
    "Flesh",
    "InverseOptions",
    "LinAlgError",
    "Mesh",
    "MeshPart",
    "Method",
    "MethodOptions",
    "Motion",
    "PoseReport",
    "Rotation",
    "ShapeDriver",
    "ShapeMotion",
    "SingularVertexWarning",
    "Skeleton",
    "Skin",
    "Twist",
    "TwistBone",
    "TwistTracker",
    "WeightReport",
    "WeightWarning",
    "__version__",
    "bones_blending",
    "build_info",
    "correctives",
    "formats",
    "get_threads",
    "gpu",
    "limb_twist",
    "linear",
    "load",
    "load_motion",
    "mesh",
    "muscles",
    "optimized_centers",
    "options",
    "poses",
    "quality",
    "rotations",
    "samples",
    "set_threads",
    "tangents",
    "twist_amounts",
    "twist_bones",
    "weights",
]

_threads = os.environ.get("SBS_THREADS", "")
if _threads and not re.fullmatch("0*[1-9][0-9]*", _threads):
    warnings.warn(
        f"SBS_THREADS is {_threads!r}, not a whole number from 1, and not taken", RuntimeWarning, stacklevel=2
    )


_SUBPACKAGES = (
    "correctives",
    "formats",
    "gpu",
    "linear",
    "mesh",
    "muscles",
    "poses",
    "quality",
    "samples",
    "weights",
)


def __getattr__(name: str) -> Any:
    """Import the subpackages, and Flesh, on first use: deforming alone does not need them."""
    from importlib import import_module

    if name == "Flesh":
        return import_module(".correctives.flesh", __name__).Flesh
    if name not in _SUBPACKAGES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return import_module(f".{name}", __name__)


def __dir__() -> list[str]:
    return sorted(__all__)
