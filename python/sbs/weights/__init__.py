# SPDX-License-Identifier: MIT
"""Making weights for a mesh: by capsules around bones, by heat, from examples, by a brush, and tools to change them.

Weights are `Influences`, pairs of padded arrays as `sbs.Skin` takes them: by decreasing weight (ties by joint), padded
with index 0 and weight 0.
"""

from ..rigging.bones import bone_segments
from ..skinning.influences import Influences, tidy
from .brush import Brush, Stroke
from .capsule_fit import fit_capsules
from .capsules import Capsules, capsule_weights
from .check import WeightCheck, WeightStatistics, check, statistics
from .decompose import Decomposition, decompose, fit_matrices
from .fit import FittedWeights, fit
from .heat import HeatReport, HeatWeights, JoinedIsland, heat_weights
from .influences import from_dense, to_dense
from .mirror import Counterparts, Mirrored, mirror, mirror_joints
from .reachable import Reachable, reachable
from .spherical import for_spherical, widen
from .tools import limit, normalize, prune, smooth
from .transfer import Transfer, transfer

__all__ = [
    "Brush",
    "Capsules",
    "Counterparts",
    "Decomposition",
    "FittedWeights",
    "HeatReport",
    "HeatWeights",
    "Influences",
    "JoinedIsland",
    "Mirrored",
    "Reachable",
    "Stroke",
    "Transfer",
    "WeightCheck",
    "WeightStatistics",
    "bone_segments",
    "capsule_weights",
    "check",
    "decompose",
    "fit",
    "fit_capsules",
    "fit_matrices",
    "for_spherical",
    "from_dense",
    "heat_weights",
    "limit",
    "mirror",
    "mirror_joints",
    "normalize",
    "prune",
    "reachable",
    "smooth",
    "statistics",
    "tidy",
    "to_dense",
    "transfer",
    "widen",
]


def __dir__() -> list[str]:
    return sorted(__all__)
