# SPDX-License-Identifier: MIT
"""How many weights come back from their own deformations: ``python -m benchmarks.fits``.

300 vertices of each character get weights that are made up, of any four joints or of the joints that they follow, or
keep those of the artist. They are deformed in 20 poses of random turns of all joints, and `sbs.weights.fit` looks for
weights with which they come there again. With ``--time``: how long a fit to 100 frames takes.
"""

from __future__ import annotations

import sys
import time
from typing import Any

import numpy as np

import sbs
from sbs.cli.tables import print_table
from sbs.samples import load as load_sample

from . import ROOT

VERTICES, POSES, INFLUENCES = 300, 20, 4
LARGEST_TURN = 0.8  # radians about each axis
MET = 1e-6  # of the size
KINDS = ("any joints", "own joints", "the artist's")
METHODS: dict[str, dict[str, Any]] = {
    "LBS": {"method": "linear"},
    "DQS": {"method": "dual_quaternion"},
    "SBS, weighted": {"method": "spherical", "center": "weighted"},
    "SBS, optimized": {"method": "spherical", "center": "optimized"},
    "SBS": {"method": "spherical", "center": "joint_set"},
}
TIMED = ("SBS, weighted", "SBS", "DQS")
EVERY = 64
"""Of so many vertices one is timed."""


def missed(character: sbs.Character, options: dict[str, Any], kind: str, seed: int = 0) -> tuple[float, float]:
    """Which share of vertices does not come to its examples, and how far off the farthest is, as a share of the size.

    Optimized centers are any points near the vertices, by a fiftieth of the size.
    """
    random = np.random.default_rng(seed)
    joint_count = len(character.skeleton)
    size = float(np.linalg.norm(np.ptp(character.mesh.positions, axis=0)))
    count = min(VERTICES, len(character.mesh.positions))
    vertices = random.choice(len(character.mesh.positions), count, replace=False)
    joints, weights = (table[vertices] for table in character.skin.influences())
    if kind == "any joints":
        joints = np.stack([random.permutation(joint_count)[:INFLUENCES] for _ in vertices]).astype(np.int32)
        weights = random.dirichlet(np.ones(joints.shape[1]), count)
    elif kind == "own joints":
        weights = random.dirichlet(np.ones(joints.shape[1]), count) * (weights > 0)
    weights = weights / weights.sum(axis=1, keepdims=True)
    rest = character.mesh.positions[vertices].astype(np.float64)
    turns = random.uniform(-LARGEST_TURN, LARGEST_TURN, (POSES, joint_count, 3))
    frames = character.skinning_matrices(rotation_vectors=turns)
    centers = rest + random.normal(0, size / 50, rest.shape)
    skin = sbs.Skin(rest, joints, weights, joint_count=joint_count, centers=centers)
    posed = skin.deform_many(frames, **options)
    given: dict[str, Any] = {"centers": centers} if options.get("center") == "optimized" else {}
    fitted = sbs.weights.fit(rest, posed, frames, influences=joints.shape[1], **given, **options)
    off = fitted.errors / size
    return float((off > MET).mean()), float(off.max())


def seconds(character: sbs.Character, options: dict[str, Any], turn: float, noise: float) -> float:
    """Processor time of a fit to 100 frames of the artist's weights, as if of all vertices.

    Joints are turned at random by up to `turn` about each axis, and vertices moved by up to `noise` of the size.
    """
    random = np.random.default_rng(0)
    joints, weights = (table[::EVERY, :INFLUENCES] for table in character.skin.influences())
    rest = character.mesh.positions[::EVERY].astype(np.float64)
    size = float(np.linalg.norm(np.ptp(character.mesh.positions, axis=0)))
    frames = character.skinning_matrices(
        rotation_vectors=random.uniform(-turn, turn, (100, len(character.skeleton), 3))
    )
    weights = weights / weights.sum(axis=1, keepdims=True)
    skin = sbs.Skin(rest, joints, weights, joint_count=len(character.skeleton))
    waves = np.sin(3 * rest @ random.normal(size=(3, 3)) + np.linspace(0, 20, 100)[:, None, None])
    posed = skin.deform_many(frames, **options) + noise * size * waves
    start = time.process_time()
    sbs.weights.fit(rest, posed, frames, **options)
    return EVERY * (time.process_time() - start)


def time_fits() -> None:
    woman = load_sample("woman")
    rows = [
        (name, str(turn), str(noise), f"{seconds(woman, METHODS[name], turn, noise):.0f}")
        for name in TIMED
        for turn in (0.3, LARGEST_TURN)
        for noise in (0.0, 0.003)
    ]
    print_table(("method", "turned by", "moved by", "seconds of a core, all vertices"), rows)


def main() -> None:
    characters = {name: load_sample(name) for name in ("woman", "hand")}
    files = ("Rat", "Fox", "arm", "generic-hand-left")
    characters |= {name: sbs.load(ROOT / "tests" / "data" / f"{name}.glb") for name in files}
    rows = []
    for label, character in characters.items():
        for name, options in METHODS.items():
            found = [missed(character, options, kind) for kind in KINDS]
            rows.append((label, name, *(text for share, off in found for text in (f"{share:.1%}", f"{off:.0e}"))))
    heads = [head for kind in KINDS for head in (f"{kind}: missed", "off by at most")]
    print_table(("character", "method", *heads), rows, left=2)


if __name__ == "__main__":
    time_fits() if sys.argv[1:] == ["--time"] else main()
