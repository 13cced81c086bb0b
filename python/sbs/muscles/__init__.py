# SPDX-License-Identifier: MIT
"""Muscles of constant volume, and skin that covers them.

A `Muscle` has a path from origin to insertion over joints, and a belly that becomes thicker where the path becomes
shorter. Bound to a character (`bind`), muscles move the skin that was deformed by any method, so that it keeps its
distance from them. `fit` places those of a human body. `sbs/muscles.h` has the formulas, docs/muscles.md the guide.
"""

from .anatomy import fit
from .cover import MuscleCover, MuscleStates, SkinOfMuscle, bind
from .files import read, write
from .muscle import Muscle

__all__ = ["Muscle", "MuscleCover", "MuscleStates", "SkinOfMuscle", "bind", "fit", "read", "write"]


def __dir__() -> list[str]:
    return sorted(__all__)
