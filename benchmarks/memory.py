# SPDX-License-Identifier: MIT
"""Peak memory of a whole process that binds and deforms a mesh, above what the interpreter takes with the imports."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from . import ROOT
from .workloads import Workload

# The high-water mark of this program alone: getrusage's goes on from that of the process that started it.
CHILD = """
import re, sys
from pathlib import Path
import numpy as np
import sbs

def peak():
    return 1024 * int(re.search(r"VmHWM:\\s+(\\d+) kB", Path("/proc/self/status").read_text())[1])

before = peak()
load = lambda name: np.load(Path(sys.argv[1], name + ".npy"))
positions, indices, weights = load("rest_positions"), load("joint_indices"), load("joint_weights")
normals = load("rest_normals") if sys.argv[2] == "pn" else None
matrices = load("skinning_matrices")
skin = sbs.Skin(positions, indices, weights, parents=load("parents"), joint_positions=load("joint_positions"),
                rest_normals=normals)
for method in ("linear", "spherical", "dual_quaternion"):
    result = skin.deform(matrices[0], method=method, normals=normals is not None)
    del result
print(before, peak())
"""


def measure(workload: Workload) -> list[dict[str, Any]]:
    """Peaks for positions only and with normals, beside the bytes of the caller's own arrays.

    Those are rest positions, influences, results and, in the second case, normals at rest and of the result.
    """
    names = ("rest_positions", "rest_normals", "joint_indices", "joint_weights", "skinning_matrices")
    results = []
    with tempfile.TemporaryDirectory() as folder:
        for name in (*names, "parents", "joint_positions"):
            np.save(Path(folder, name), getattr(workload, name))
        for attributes in ("p", "pn"):
            command = [sys.executable, "-c", CHILD, folder, attributes]
            output = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, cwd=ROOT / "benchmarks")
            before, peak = map(int, output.stdout.split())
            vectors = workload.rest_positions.nbytes * (4 if attributes == "pn" else 2)
            own = vectors + workload.joint_indices.nbytes + workload.joint_weights.nbytes
            results.append(
                {
                    "workload": workload.name,
                    "vertices": workload.vertex_count,
                    "attributes": attributes,
                    "interpreter": before,
                    "peak": peak,
                    "arrays": own,
                    "ratio": (peak - before) / own,
                }
            )
    return results
