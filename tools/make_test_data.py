# SPDX-License-Identifier: MIT
"""Make tests/data/*.npz, the small real characters of the tests, from a folder of characters in the neutral text form.

    python tools/make_test_data.py CHARACTERS [--output tests/data]

CHARACTERS contains one folder for each character, with a mesh, ``rig.txt``, and clips, ``NAME.clip.bin``.

rig.txt: lines starting with # are comments; tokens are separated by blanks::

    rig 1 <name>
    joints N
    <index> <parent or -1> <name> r00 r01 r02 tx r10 r11 r12 ty r20 r21 r22 tz     (joint to model at bind, rigid)
    vertices M
    x y z nx ny nz k j1 w1 ... jk wk                                               (weights as found; k may be 0)
    triangles T
    a b c

NAME.clip.bin, little-endian: "SBSCLIP1", uint32 frames, uint32 joints, float32 frames a second, then frames x joints x
7 float32, qx qy qz qw tx ty tz: the rigid skinning transform of a joint, v' = rotate(q, v) + t.

The file of a character, <name>.npz (`numpy.load` reads it; no pickles):

    rest_positions      (V, 3)     float32 if that represents every digit of the text, else float64
    rest_normals        (V, 3)     the same
    joint_indices       (V, K)     int32, padded with 0
    joint_weights       (V, K)     float32 or float64 as above, padded with 0; as found, not normalized
    triangles           (T, 3)     int32; left out if vertices are left out
    parents             (J,)       int32, -1 for a root
    joint_names         (J,)       unicode
    bind_matrices       (J, 3, 4)  float64, joint to model, row-major, column vectors
    <clip>.frames       (F,)       int32, the numbers of the frames that were kept
    <clip>.quaternions  (F, J, 4)  float32, (w, x, y, z), unit to 5e-8
    <clip>.translations (F, J, 3)  float32

The same input gives the same bytes.
"""

import argparse
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from pages.exchange import read_clip, read_tokens
from sbs.support.files import replacing


@dataclass(frozen=True)
class Selection:
    """The part of a character to keep: every `step`-th vertex, and some frames of some clips."""

    frames: dict[str, tuple[int, ...]]
    step: int = 1


# Each frame shows something: the identity pose where a clip starts with it, frames spread over the clip, and
# the frame in which two joints of one vertex turn furthest apart (179 degrees in fist 29, atlas 125 and cmu 5). In
# cmu, joints pass 180 degrees from the heaviest joint of a vertex after frames 2 and 10. In wave 35, Rat_Run 5 and
# Rat_Walk 17, joints that turn about almost one axis put rotation centers far along it.
SELECTIONS = {
    "hand_webxr": Selection({"fist": (0, 10, 20, 28, 29, 30), "wave": (22, 35), "twist_index": (9, 17)}),
    "arnaud_ozz": Selection({"atlas": (0, 64, 125, 128, 250, 450), "run": (3,), "walk": (20,)}),
    "rat_quaternius": Selection({"Rat_Run": (0, 5, 11), "Rat_Death": (33,), "Rat_Walk": (17,), "Rat_Jump": (13,)}),
    "wolf_quaternius": Selection({"Gallop_Jump": (0, 11, 20), "Walk": (20,), "Death": (13,)}),
    "knight_kaykit": Selection({"T-Pose": (0,), "Death_B": (27, 79), "Running_A": (17,), "Cheer": (41,)}),
    "woman_makehuman_cmu": Selection({"cmu_01_01": (0, 2, 3, 5, 10, 11, 300, 600)}),
    "woman_makehuman_default": Selection({"benchmark": (0, 12, 23, 30), "face_units": (50,), "tpose": (30,)}, step=4),
}


def exact(tokens: Sequence[Sequence[str]], digits: int) -> np.ndarray:
    """Numbers from text: float32 if that represents `digits` digits of every token, else float64."""
    doubles = np.array(tokens, dtype=np.float64)
    floats = doubles.astype(np.float32)
    pairs = zip(floats.flat, doubles.flat, strict=True)
    same = all(f"{single:.{digits}g}" == f"{double:.{digits}g}" for single, double in pairs)
    return floats if same else doubles


def read_rig(path: Path, step: int) -> dict[str, np.ndarray]:
    """Read the mesh and skeleton of a rig.txt, with every `step`-th vertex."""
    _, joints, all_vertices, triangles = read_tokens(path)
    vertices = all_vertices[::step]
    most = max(int(vertex[6]) for vertex in vertices)
    influences = [vertex[7 : 7 + 2 * most] for vertex in vertices]
    whole = {"triangles": np.array(triangles, dtype=np.int32)} if step == 1 else {}
    return whole | {
        "rest_positions": exact([vertex[:3] for vertex in vertices], digits=9),
        "rest_normals": exact([vertex[3:6] for vertex in vertices], digits=6),
        "joint_indices": np.array([row[0::2] for row in influences], dtype=np.int32),
        "joint_weights": exact([row[1::2] for row in influences], digits=9),
        "parents": np.array([joint[1] for joint in joints], dtype=np.int32),
        "joint_names": np.array([joint[2] for joint in joints]),
        "bind_matrices": np.array([joint[3:] for joint in joints], dtype=np.float64).reshape(-1, 3, 4),
    }


def convert(source: Path, output: Path, selection: Selection) -> int:
    """Write one character; returns the size of the file in bytes."""
    arrays = read_rig(source / "rig.txt", selection.step)
    for clip, frames in selection.frames.items():
        _, quaternions, translations = read_clip(source / f"{clip}.clip.bin")
        arrays[f"{clip}.frames"] = np.array(frames, dtype=np.int32)
        arrays[f"{clip}.quaternions"] = quaternions[list(frames)]
        arrays[f"{clip}.translations"] = translations[list(frames)]
    with replacing(output) as temporary, temporary.open("wb") as file:
        np.savez_compressed(file, allow_pickle=False, **arrays)
    return output.stat().st_size


def main() -> None:
    parser = argparse.ArgumentParser(description="Make tests/data/*.npz from characters in the neutral text form.")
    parser.add_argument("characters", type=Path, help="folder with one folder for each character")
    parser.add_argument("--output", type=Path, default=Path(__file__).parents[1] / "tests" / "data")
    arguments = parser.parse_args()
    for name, selection in SELECTIONS.items():
        size = convert(arguments.characters / name, arguments.output / f"{name}.npz", selection)
        print(f"{name}.npz: {size / 1024:.0f} KiB")


if __name__ == "__main__":
    main()
