# SPDX-License-Identifier: MIT
"""Results as a picture: nanoseconds per vertex over the size of the mesh."""

from __future__ import annotations

from pathlib import Path

import matplotlib as mpl

from sbs.support.files import replacing

from .results import Results

mpl.use("Agg")
import matplotlib.pyplot as plt

# system, what, method, label, color and style
LINES = (
    ("sbs", "frame", "spherical", "SBS", "#c0392b", "-"),
    ("sbs", "frame", "linear", "LBS", "#2471a3", "-"),
    ("sbs", "frame", "dual_quaternion", "DQS", "#7d3c98", "-"),
    ("ozz", "frame", "linear", "LBS, ozz-animation", "#1e8449", "--"),
    ("numba", "frame", "linear", "LBS, numba", "#d68910", "--"),
    ("usd-core", "frame", "linear", "LBS, usd-core", "#117a65", "--"),
    ("blender", "frame", "linear", "LBS, Blender", "#e67e22", "--"),
    ("numpy", "frame", "linear", "LBS, NumPy", "#34495e", "--"),
    ("libigl", "frame", "linear", "LBS, libigl", "#a93226", "--"),
)
WORKLOADS = {
    "S": "tube, 4 influences",
    "R": "humanoid, 1 to 4 influences",
    "R shuffled": "the same, vertices shuffled",
}
# What can't do normals, or has its own way to them, is shown with positions only.
POSITIONS_ONLY = ("blender", "libigl")


def plot(results: Results, path: Path) -> None:
    """Draw whole frames with positions and normals, log-log, a line a system."""
    best = results.isas[0]
    figure, axes = plt.subplots(1, len(WORKLOADS), figsize=(13, 5.2), sharey=True, layout="constrained")
    for axis, (workload, title) in zip(axes, WORKLOADS.items(), strict=True):
        for system, what, method, label, color, style in LINES:
            attributes = "p" if system in POSITIONS_ONLY else "pn"
            points = []
            for size in results.sizes(workload):
                time = results.time(
                    workload,
                    size,
                    what,
                    method,
                    system=system,
                    isa=best if system == "sbs" else "",
                    attributes=attributes,
                )
                if time is not None:
                    points.append((size, time / size))
            if points:
                text = label + (" (positions only)" if attributes == "p" else "")
                axis.plot(*zip(*points, strict=True), style, marker="o", markersize=3, color=color, label=text)
        axis.set(xscale="log", yscale="log", title=title, xlabel="vertices")
        axis.grid(alpha=0.3, which="both", linewidth=0.5)
    axes[0].set_ylabel("nanoseconds per vertex, one thread")
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside right center", frameon=False)
    machine = results.machine
    figure.suptitle(f"Whole frames, positions and normals, float32: {machine['cpu']}, {best}", fontsize=10)
    with replacing(path) as temporary:
        figure.savefig(temporary, dpi=110)
    plt.close(figure)
