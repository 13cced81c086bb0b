# SPDX-License-Identifier: MIT
"""Measure a forearm that is twisted by 170 degrees, by numbers of frames: the first table of docs/twist.md.

    python tools/evaluate_twist.py

Takes the package's own woman, nothing else.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

import sbs
from sbs.cli.tables import print_table
from sbs.options import Method
from sbs.poses import axes, turned
from sbs.quality import MeasuredMotion, evaluate
from sbs.quality.methods import Deformer, NamedMethod
from sbs.samples import load as load_sample

JOINT, DEGREES = "LeftForeArm", 170.0
FRAMES: dict[Method, tuple[int, ...]] = {"linear": (0, 2, 3, 5, 9), "spherical": (0, 3, 4, 5)}


@dataclass(frozen=True)
class Spread(NamedMethod):
    """A method with twists spread by so many frames along each bone; by none they are not spread."""

    frames: int

    def skin(self, character: sbs.Character) -> Deformer:
        return character.twisted_skin(sbs.limb_twist(character, frames=self.frames) if self.frames else None)


def methods() -> dict[str, NamedMethod]:
    """By their headings in the table."""
    found: dict[str, NamedMethod] = {}
    for method, counts in FRAMES.items():
        for frames in counts:
            name = {"linear": "LBS", "spherical": "SBS"}[method] + (f", {frames} frames" if frames else "")
            found[name] = Spread(name, {"method": method}, frames)
    return found


def main() -> None:
    character = load_sample("woman")
    _, bone = axes(character.skeleton, character.skeleton.index(JOINT))
    matrices = character.skinning_matrices(turned(character.skeleton, JOINT, bone, DEGREES))
    motion = MeasuredMotion("twisted", (JOINT,), np.asarray(matrices)[None])
    report = evaluate(character, [motion], methods())
    rows = []
    for name in methods():
        value = report.results[motion.name, name].value
        tear = value("tear", "largest") / report.results[motion.name, "LBS"].value("tear", "largest")
        shares = [f"{value(*what):.1%}" for what in (("thickness", "low"), ("area", "low"), ("area", "high"))]
        rows.append((name, *shares, f"{tear:.2f}"))
    print_table(("170° at the forearm", "thickness 1%", "area 1%", "area 99%", "largest tear, over LBS"), rows, left=1)


if __name__ == "__main__":
    main()
