# SPDX-License-Identifier: MIT
"""Correctives: shapes that a pose drives, sculpted where a bent joint looks wrong by every method.

`Correctives` are given the mesh in a pose, as it should look. `Correctives.solve` finds the offsets that the rest pose
needs, and ``Skin.deform(..., correctives=)`` adds them, the more, the nearer the joints are to the pose.
`sbs/drivers.h` has the formula, docs/correctives.md the guide.
"""

from ..skinning.shapes import Shape, Shapes
from .blend_shapes import as_blend_shapes
from .correctives import Corrective, Correctives
from .draft import draft
from .draft_all import DraftedCorrectives, draft_all
from .driven_shapes import from_shapes
from .drivers import Driver, Part
from .files import read, write
from .fitting import FittedCorrectives, fit
from .linear import to_linear
from .mirroring import mirror
from .solving import Solution, Target

__all__ = [
    "Corrective",
    "Correctives",
    "DraftedCorrectives",
    "Driver",
    "FittedCorrectives",
    "Part",
    "Shape",
    "Shapes",
    "Solution",
    "Target",
    "as_blend_shapes",
    "draft",
    "draft_all",
    "fit",
    "from_shapes",
    "mirror",
    "read",
    "to_linear",
    "write",
]


def __dir__() -> list[str]:
    return sorted(__all__)
