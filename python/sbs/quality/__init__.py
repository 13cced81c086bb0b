# SPDX-License-Identifier: MIT
"""How well a mesh keeps its shape: volume, areas, thickness, tears and pops of each method, over clips and poses.

docs/quality.md explains each measure, and has the results for real characters.
"""

from ..characters.motions import MeasuredMotion, clip, made_poses, sweep
from .gauge import MEASURES, Gauge
from .methods import METHODS, NamedMethod, chosen
from .report import COLUMNS, Report, Result, evaluate
from .zones import fit_zones

__all__ = [
    "COLUMNS",
    "MEASURES",
    "METHODS",
    "Gauge",
    "MeasuredMotion",
    "NamedMethod",
    "Report",
    "Result",
    "chosen",
    "clip",
    "evaluate",
    "fit_zones",
    "made_poses",
    "sweep",
]


def __dir__() -> list[str]:
    return sorted(__all__)
