# SPDX-License-Identifier: MIT
"""How many weights come back from their own deformations: ``python -m benchmarks.fits``.

300 vertices of each character get weights that are made up: of any four joints, or of the joints that they follow. They
are deformed in 20 poses of random turns of all joints, and `sbs.weights.fit` looks for the weights again.
"""

from __future__ import annotations

from typing import Any

import numpy as np

import sbs
from sbs.cli.tables import print_table
from sbs.samples import load as load_sample

from . import ROOT

VERTICES, POSES, INFLUENCES = 300, 20, 4
LARGEST_TURN = 0.8  # radians about each axis
METHODS: dict[str, dict[str, Any]] = {
    "LBS": {"method": "linear"},
    "DQS": {"method": "dual_quaternion"},
    "SBS, weighted": {"method": "spherical", "center": "weighted"},
    "SBS": {"method": "spherical", "center": "joint_set"},
}


def count(character: sbs.Character, options: dict[str, Any], own: bool, seed: int = 0) -> tuple[int, float]:
    """How many vertices get weights that are 1e-6 off or more, and the largest difference of the others."""
    random = np.random.default_rng(seed)
    joint_count = len(character.skeleton)
    vertices = random.choice(len(character.mesh.positions), VERTICES, replace=False)
    if own:
        joints, weights = (table[vertices] for table in character.skin.influences())
        weights = random.dirichlet(np.ones(joints.shape[1]), VERTICES) * (weights > 0)
        weights /= weights.sum(axis=1, keepdims=True)
    else:
        joints = np.stack([random.permutation(joint_count)[:INFLUENCES] for _ in vertices]).astype(np.int32)
        weights = random.dirichlet(np.ones(INFLUENCES), VERTICES)
    rest = character.mesh.positions[vertices].astype(np.float64)
    turns = random.uniform(-LARGEST_TURN, LARGEST_TURN, (POSES, joint_count, 3))
    frames = character.skinning_matrices(rotation_vectors=turns)
    skin = sbs.Skin(rest, joints, weights, joint_count=joint_count)
    fitted = sbs.weights.fit(rest, skin.deform_many(frames, **options), frames, influences=joints.shape[1], **options)
    found = sbs.weights.to_dense(fitted.joint_indices, fitted.joint_weights, joint_count)
    off = np.abs(found - sbs.weights.to_dense(*skin.influences(), joint_count)).max(axis=1)
    return int((off >= 1e-6).sum()), float(off[off < 1e-6].max(initial=0))


def main() -> None:
    characters = {name: load_sample(name) for name in ("woman", "hand")}
    characters |= {name: sbs.load(ROOT / "tests" / "data" / f"{name}.glb") for name in ("Rat", "Fox")}
    rows = []
    for label, character in characters.items():
        for name, options in METHODS.items():
            counts = [count(character, options, own) for own in (False, True)]
            rows.append((label, name, *(text for missed, off in counts for text in (str(missed), f"{off:.0e}"))))
    heads = ("character", "method", "any joints: missed", "others off by", "own joints: missed", "others off by")
    print_table(heads, rows, left=2)


if __name__ == "__main__":
    main()
