# SPDX-License-Identifier: MIT
"""Reports as plots: a row for each motion, a column for each measure, a line for each method."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ..characters.motions import MeasuredMotion
from ..support.files import replacing
from ..support.text import plain
from .picture.extra import load
from .report import Report

# measure, statistics to draw, title, whether the axis is logarithmic
PANELS = (
    ("volume", ("smallest",), "volume", False),
    ("limb_volume", ("smallest",), "smallest limb volume", False),
    ("area", ("low", "high"), "area, 1% and 99%", True),
    ("thickness", ("low", "high"), "thickness, 1% and 99%", False),
    ("tear", ("high",), "tear, 99%", False),
    ("surface_energy", ("mean",), "surface energy", False),
)
JUMP = "largest jump"
COLORS = ("#2471a3", "#7d3c98", "#c0392b", "#d68910", "#1e8449", "#34495e", "#117a65", "#a04000", "#d98880", "#839192")


def plot(reports: Sequence[Report], path: Path) -> None:
    """Draw reports of the same methods, over time for clips and over poses for others; jumps last.

    The path ends in .png or .svg.
    """
    figure_module = load("matplotlib.figure", "matplotlib", "plots")
    columns = len(PANELS) + 1
    rows = [(report, motion) for report in reports for motion in report.motions]
    figure = figure_module.Figure(figsize=(3.1 * columns, 2.5 * len(rows) + 0.6), layout="constrained")
    grid = figure.subplots(len(rows), columns, squeeze=False)
    for row, (report, motion) in zip(grid, rows, strict=True):
        for axis, (measure, statistics, title, logarithmic) in zip(row, PANELS, strict=False):
            draw_series(axis, report, motion, measure, statistics)
            axis.set_title(title, fontsize=9)
            if logarithmic:
                axis.set_yscale("log", base=2)
                axis.yaxis.set_major_formatter("{x:g}")
        draw_jumps(row[-1], report, motion)
        row[-1].set_title(JUMP, fontsize=9)
        row[0].set_ylabel(plain(motion.name), fontsize=9, parse_math=False)
    for axis in grid.flat:
        axis.grid(alpha=0.3, linewidth=0.5)
        axis.tick_params(labelsize=7)
    handles, labels = grid[0, 0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper center", ncols=len(labels), frameon=False, fontsize=9)
    with replacing(path) as temporary:
        figure.savefig(temporary, dpi=100)


def draw_series(axis: Any, report: Report, motion: MeasuredMotion, measure: str, statistics: tuple[str, ...]) -> None:
    across = np.arange(len(motion.poses)) + 1.0 if motion.times is None else motion.times
    for color, name in zip(colors(report), report.methods, strict=True):
        poses = report.results[motion.name, name].poses
        for statistic in statistics:
            values = [pose[measure][statistic] for pose in poses]
            first = statistic == statistics[0]
            axis.plot(across, values, marker="o", markersize=2, color=color, linewidth=1, label=name if first else None)
    axis.set_xlabel("pose" if motion.times is None else "seconds", fontsize=8)


def draw_jumps(axis: Any, report: Report, motion: MeasuredMotion) -> None:
    """A bar for each method: the largest jump of all paths, in per cent of the size."""
    values = [100 * report.results[motion.name, name].value("pop", "jump") for name in report.methods]
    if np.isfinite(values).any():
        axis.bar(list(report.methods), values, color=list(colors(report)))
        axis.set_axisbelow(True)
        axis.set_xticks([])  # the legend names the methods
        axis.set_ylim(0, max(1.05 * max(values), 0.01))
        axis.set_ylabel("% of the size", fontsize=8)
    else:
        axis.set_axis_off()


def colors(report: Report) -> tuple[str, ...]:
    """One for each method."""
    return tuple(COLORS[index % len(COLORS)] for index in range(len(report.methods)))
