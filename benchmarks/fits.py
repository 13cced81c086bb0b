# SPDX-License-Identifier: MIT
"""Weights that come back from their own deformations, or do not.

300 vertices of each character get weights that are made up, of any four joints or of the joints that they follow, or
keep the artist's weights. They are deformed in 20 poses of random turns of all joints, and `sbs.weights.fit` looks for
weights with which they come there again.
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np

import sbs
from sbs import quality
from sbs.cli.tables import print_table
from sbs.samples import load as load_sample

from . import ROOT

VERTICES, POSES, INFLUENCES = 300, 20, 4
LARGEST_TURN = 0.8  # radians about each axis
MET = 1e-6  # of the size
KINDS = ("any joints", "own joints", "the artist's")
METHODS: dict[str, dict[str, Any]] = {
    name: dict(quality.METHODS[name].options) for name in ("LBS", "DQS", "weighted", "optimized")
}
METHODS["SBS"] = {"method": "spherical", "center": "joint_set"}  # which is not the default of fits
EVERY = 64
"""Of so many vertices one is timed."""


def missed(character: sbs.Character, options: dict[str, Any], kind: str) -> tuple[float, float]:
    """The share of vertices that miss their examples, and the largest distance of any, as a share of the size.

    Optimized centers are any points near the vertices, by a fiftieth of the size.
    """
    random = np.random.default_rng(0)
    joint_count, positions = len(character.skeleton), character.mesh.positions
    size = float(np.linalg.norm(np.ptp(positions, axis=0)))
    vertices = random.choice(len(positions), min(VERTICES, len(positions)), replace=False)
    joints, weights = (table[vertices] for table in character.skin.influences())
    if kind == "any joints":
        joints = np.stack([random.permutation(joint_count)[:INFLUENCES] for _ in vertices]).astype(np.int32)
    if kind != "the artist's":
        made = random.dirichlet(np.ones(joints.shape[1]), len(vertices))
        weights = made if kind == "any joints" else made * (weights > 0)
    weights = weights / weights.sum(axis=1, keepdims=True)
    rest = positions[vertices].astype(np.float64)
    turns = random.uniform(-LARGEST_TURN, LARGEST_TURN, (POSES, joint_count, 3))
    frames = character.skinning_matrices(rotation_vectors=turns)
    centers = rest + random.normal(0, size / 50, rest.shape)
    skin = sbs.Skin(rest, joints, weights, joint_count=joint_count, centers=centers)
    posed = skin.deform_many(frames, **options)
    given: dict[str, Any] = {"centers": centers} if options.get("center") == "optimized" else {}
    fitted = sbs.weights.fit(rest, posed, frames, influences=joints.shape[1], **given, **options)
    off = fitted.errors / size
    return float((off > MET).mean()), float(off.max())


def count_fits() -> None:
    """Print how many vertices of each character miss their examples, by each method."""
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


def seconds(character: sbs.Character, options: dict[str, Any], turn: float, noise: float) -> float:
    """Processor time of a fit to 100 frames of the artist's weights, as if of all vertices.

    Joints are turned at random by up to `turn` about each axis, and vertices moved by up to `noise` of the size.
    """
    random = np.random.default_rng(0)
    joint_count, positions = len(character.skeleton), character.mesh.positions
    joints, weights = (table[::EVERY, :INFLUENCES] for table in character.skin.influences())
    rest = positions[::EVERY].astype(np.float64)
    size = float(np.linalg.norm(np.ptp(positions, axis=0)))
    frames = character.skinning_matrices(rotation_vectors=random.uniform(-turn, turn, (100, joint_count, 3)))
    weights = weights / weights.sum(axis=1, keepdims=True)
    skin = sbs.Skin(rest, joints, weights, joint_count=joint_count)
    waves = np.sin(3 * rest @ random.normal(size=(3, 3)) + np.linspace(0, 20, 100)[:, None, None])
    posed = skin.deform_many(frames, **options) + noise * size * waves
    start = time.process_time()
    sbs.weights.fit(rest, posed, frames, **options)
    return EVERY * (time.process_time() - start)


def time_fits() -> None:
    """Print the seconds that fits to frames of the woman take."""
    woman = load_sample("woman")
    rows = [
        (name, str(turn), str(noise), f"{seconds(woman, METHODS[name], turn, noise):.0f}")
        for name in ("weighted", "SBS", "DQS")
        for turn in (0.3, LARGEST_TURN)
        for noise in (0.0, 0.003)
    ]
    print_table(("method", "turned by", "moved by", "seconds of a core, all vertices"), rows)
