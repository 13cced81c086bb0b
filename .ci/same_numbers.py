# SPDX-License-Identifier: MIT
"""Whether two platforms compute the same.

    python .ci/same_numbers.py write FILE            # what the installed package makes of a mesh and poses made up here
    python .ci/same_numbers.py compare FILE FILE     # fails unless they have the same bits
    python .ci/same_numbers.py compare FILE FILE --float32 2.1e-6 --float64 6.2e-15    # or differ by no more than this

The mesh is 2 units wide. All methods, rotations and centers are written, in both types, with normals, by one and by
three threads. SBS_ISA chooses the instruction set, as always.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from sbs.options import MethodOptions

VERTICES, JOINTS, FRAMES = 20_000, 12, 2
METHODS: dict[str, MethodOptions] = {
    "rigid": {"method": "rigid"},
    "linear": {"method": "linear"},
    "dual quaternion": {"method": "dual_quaternion"},
    **{
        f"spherical, {rotation}, {center}": {"method": "spherical", "rotation": rotation, "center": center}
        for rotation in ("qlerp", "average")
        for center in ("joint_set", "weighted", "optimized")
    },
}


def matrices(random: np.random.Generator) -> np.ndarray:
    """Rigid matrices (FRAMES, JOINTS, 4, 4); by products and roots alone, which every machine rounds alike."""
    w, x, y, z = random.uniform(-1, 1, (4, FRAMES, JOINTS)).round(3)
    square = w * w + x * x + y * y + z * z
    made = np.zeros((FRAMES, JOINTS, 4, 4))
    made[..., 0, :3] = np.stack([square - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)], axis=-1)
    made[..., 1, :3] = np.stack([2 * (x * y + z * w), square - 2 * (x * x + z * z), 2 * (y * z - x * w)], axis=-1)
    made[..., 2, :3] = np.stack([2 * (x * z - y * w), 2 * (y * z + x * w), square - 2 * (x * x + y * y)], axis=-1)
    made /= square[..., None, None]
    made[..., :3, 3] = random.uniform(-0.5, 0.5, (FRAMES, JOINTS, 3)).round(3)
    made[..., 3, 3] = 1
    return made


def write(file: Path) -> None:
    """Deform, and keep the results by names that tell how."""
    import sbs  # which comparing does not need

    random = np.random.default_rng(2005)
    rest = random.uniform(-1, 1, (VERTICES, 3)).round(3)
    square = rest[:, 0] * rest[:, 0] + rest[:, 1] * rest[:, 1] + rest[:, 2] * rest[:, 2]
    normals = rest / np.sqrt(square)[:, None]
    indices = np.add.outer(random.integers(0, JOINTS, VERTICES), [0, 1, 3, 6]).astype(np.int32) % JOINTS
    weights = random.uniform(0.1, 1, (VERTICES, 4)).round(3)
    weights /= (weights[:, 0] + weights[:, 1] + weights[:, 2] + weights[:, 3])[:, None]
    poses = matrices(random)
    results: dict[str, np.ndarray] = {}
    for dtype in (np.float32, np.float64):
        skin = sbs.Skin(
            rest.astype(dtype), indices, weights.astype(dtype), rest_normals=normals.astype(dtype), centers=rest / 2
        )
        for name, options in METHODS.items():
            for threads in (1, 3):
                found = skin.deform_many(poses, normals=True, threads=threads, **options)
                for what, array in zip(("positions", "normals"), found, strict=True):
                    results[f"{what}, {name}, {np.dtype(dtype).name}, {threads} threads"] = array
    np.savez(file, **results)  # type: ignore[arg-type]  # there is no option of such a name
    print(f"{file}: {len(results)} arrays by {sbs.build_info()['instruction_set']}")


def compare(paths: list[Path], most: dict[str, float]) -> bool:
    """Print the greatest difference for each type; return whether all are within the tolerances."""
    with np.load(paths[0]) as first, np.load(paths[1]) as second:
        assert first.files == second.files
        good = True
        for dtype, allowed in most.items():
            names = [name for name in first.files if dtype in name]
            same = sum(first[name].tobytes() == second[name].tobytes() for name in names)
            apart, worst = max((float(np.abs(first[name].astype(float) - second[name]).max()), name) for name in names)
            print(f"{dtype}: {same} of {len(names)} have the same bits, {apart:.2g} apart at most ({worst})")
            good = good and (same == len(names) or apart <= allowed)
    return good


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(required=True, dest="command")
    commands.add_parser("write").add_argument("file", type=Path)
    comparison = commands.add_parser("compare")
    comparison.add_argument("files", type=Path, nargs=2)
    comparison.add_argument(
        "--float32", type=float, default=-1.0, help="most that numbers may differ by; none if left out"
    )
    comparison.add_argument("--float64", type=float, default=-1.0)
    options = parser.parse_args()
    if options.command == "write":
        write(options.file)
    elif not compare(options.files, {"float32": options.float32, "float64": options.float64}):
        sys.exit("they differ by more than is allowed")


if __name__ == "__main__":
    main()
