# SPDX-License-Identifier: MIT
"""How well a mesh keeps its shape: volume, areas, thickness, tears and pops of each method, over clips and poses.

docs/quality.md explains each measure, and has the results for real characters.
"""

from .gauge import MEASURES, Gauge
from .methods import METHODS, NamedMethod, chosen
from .motions import Motion, clip, made_poses, sweep
from .report import COLUMNS, Report, Result, evaluate

__all__ = [
    "COLUMNS",
    "MEASURES",
    "METHODS",
    "Gauge",
    "Motion",
    "NamedMethod",
    "Report",
    "Result",
    "chosen",
    "clip",
    "evaluate",
    "made_poses",
    "sweep",
]


def __dir__() -> list[str]:
    return sorted(__all__)
