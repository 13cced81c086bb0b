# SPDX-License-Identifier: MIT
"""Check that the extension of an installed wheel runs, and needs no library beside it."""

import importlib.metadata
import sys
from pathlib import Path

import numpy as np

import sbs

package = Path(sbs.__file__).parent
assert {"site-packages", "site"} & set(package.parts), package  # .ci/platforms has a "site" for arm64
assert sbs.__version__ == importlib.metadata.version("spherical-blend-skinning")

# Three joints turned about three axes through one point: the center is that point, by either solver.
pivot = np.array([0.3, -0.2, 0.5])
cosine, sine = np.cos(0.7), np.sin(0.7)
matrices = np.tile(np.eye(4), (3, 1, 1))
for axis, matrix in enumerate(matrices):
    a, b = (axis + 1) % 3, (axis + 2) % 3
    matrix[a, a] = matrix[b, b] = cosine
    matrix[b, a], matrix[a, b] = sine, -sine
    matrix[:3, 3] = pivot - matrix[:3, :3] @ pivot

positions = np.random.default_rng(1).normal(size=(20_000, 3))
indices = np.tile(np.arange(3, dtype=np.int32), (len(positions), 1))
skin = sbs.Skin(positions, indices, np.full(indices.shape, 1 / 3))

by_values = skin.rotation_centers(matrices, rcond=1e-3)
np.testing.assert_allclose(by_values, [pivot], atol=1e-14)
np.testing.assert_allclose(skin.rotation_centers(matrices), by_values, atol=1e-6)
assert skin.pose_report(matrices, rcond=1e-3).solves == 1
deformed = skin.deform(matrices, rcond=1e-3, threads=2)
np.testing.assert_array_equal(deformed, skin.deform(matrices, rcond=1e-3, threads=1))
radius = np.linalg.norm(positions - pivot, axis=1)
np.testing.assert_allclose(np.linalg.norm(deformed - pivot, axis=1), radius, atol=1e-12)

# The library in use is the wheel's own, and none of a compiler's.
if sys.platform == "linux":
    mapped = {Path(line.split()[-1]) for line in Path("/proc/self/maps").read_text().splitlines() if "/" in line}
    assert [path.parent for path in mapped if path.name == "_core.abi3.so"] == [package], sorted(mapped)
    assert not [path for path in mapped if "libgomp" in path.name or "libomp" in path.name], sorted(mapped)
print(f"sbs {sbs.__version__} deforms by {sbs.build_info()['instruction_set']}, numpy {np.__version__}")
