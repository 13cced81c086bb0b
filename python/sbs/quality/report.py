# SPDX-License-Identifier: MIT
"""Measure methods over motions, and report the results."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..characters.character import Character
from ..characters.motions import MeasuredMotion
from ..rigging.shapes import ShapeMotion
from ..skinning.options import DeformOptions
from .gauge import MEASURES, Gauge, Statistics, over_time
from .methods import Deformer, NamedMethod, deformed

SCHEMA = 2
"""Of the JSON; raised when something that was there changes its meaning or goes."""

AT_ONCE = 32  # moments of a path
DIGITS = 6

CELLS = {
    "volume": ("volume", "smallest"),
    "limb volume": ("limb_volume", "smallest"),
    "area smallest": ("area", "smallest"),
    "area 1%": ("area", "low"),
    "area 99%": ("area", "high"),
    "area largest": ("area", "largest"),
    "edge smallest": ("edge", "smallest"),
    "edge largest": ("edge", "largest"),
    "thickness 1%": ("thickness", "low"),
    "thickness 99%": ("thickness", "high"),
    "tear 99%": ("tear", "high"),
    "tear largest": ("tear", "largest"),
    "surface energy": ("surface_energy", "mean"),
    "bending": ("bending", "total"),
    "crossing": ("crossing", "area"),
    "pop": ("pop", "largest"),
    "jump": ("pop", "jump"),
}
"""The measure and the statistic of each column of numbers."""

COLUMNS = ("motion", "method", *CELLS)


@dataclass(frozen=True, eq=False)
class Result:
    """One method over one motion.

    Attributes
    ----------
    poses : list of dict
        The result of `Gauge.measure` for each pose.
    limbs : (F, L) ndarray
        Volumes of the limbs divided by those at rest.
    pops : tuple of dict
        The result of `Gauge.pops` for each path.
    worst_tear : (int, int)
        The pose and the vertex with the largest tear; the vertex is -1 if no edge has two triangles.
    """

    poses: list[dict[str, Statistics]]
    limbs: NDArray[np.float64]
    pops: tuple[dict[str, NDArray[np.float64]], ...]
    worst_tear: tuple[int, int]

    def value(self, measure: str, statistic: str) -> float:
        """A statistic of the whole motion; NaN if there is none."""
        if measure == "pop":
            return max((float(path[statistic].max(initial=0)) for path in self.pops), default=float("nan"))
        return over_time([pose[measure] for pose in self.poses], statistic)


@dataclass(frozen=True, eq=False)
class Report:
    """Methods over motions of one character.

    Attributes
    ----------
    gauge : Gauge
    motions : tuple of MeasuredMotion
    methods : dict of NamedMethod
    skins : dict of Deformer
        The skin that each method deforms.
    results : dict
        A result for each pair (motion name, method name).
    """

    gauge: Gauge
    motions: tuple[MeasuredMotion, ...]
    methods: dict[str, NamedMethod]
    skins: dict[str, Deformer]
    results: dict[tuple[str, str], Result]

    def cells(self) -> list[tuple[str, ...]]:
        """The table as text, in the order of `COLUMNS`."""
        return [
            (motion, method, *(in_words(cell[0], result.value(*cell)) for cell in CELLS.values()))
            for (motion, method), result in self.results.items()
        ]

    def records(self) -> list[dict[str, Any]]:
        """All statistics for CSV, a flat record for each motion and method."""
        return [
            {"motion": motion, "method": method}
            | {
                f"{measure}_{statistic}": number(result.value(measure, statistic))
                for measure, statistics in MEASURES.items()
                for statistic in statistics
            }
            for (motion, method), result in self.results.items()
        ]

    def as_json(self) -> dict[str, Any]:
        """Everything, ready for JSON; None in place of missing numbers."""
        surface, character = self.gauge.surface, self.gauge.character
        return {
            "schema": SCHEMA,
            "character": {
                "name": character.name,
                "vertices": len(surface.surface_vertex),
                "welded_vertices": len(surface.kept),
                "triangles": len(surface.whole.triangles),
                "slivers_left_out": surface.sliver_count,
                "closed": surface.whole.closed,
                "limbs": [character.skeleton.names[joint] for joint in self.gauge.limbs],
            },
            "motions": [self._motion_as_json(motion) for motion in self.motions],
        }

    def _motion_as_json(self, motion: MeasuredMotion) -> dict[str, Any]:
        return {
            "name": motion.name,
            "poses": list(motion.labels),
            "methods": {name: self._result_as_json(self.results[motion.name, name]) for name in self.methods},
        }

    def _result_as_json(self, result: Result) -> dict[str, Any]:
        names = self.gauge.character.skeleton.names
        pose, vertex = result.worst_tear
        return {
            **{
                measure: {statistic: number(result.value(measure, statistic)) for statistic in statistics}
                for measure, statistics in MEASURES.items()
            },
            "limbs": {
                names[joint]: {
                    "smallest": number(np.fmin.reduce(volumes)),
                    "largest": number(np.fmax.reduce(volumes)),
                }
                for joint, volumes in zip(self.gauge.limbs, result.limbs.T, strict=True)
            },
            "worst_tear": {"pose": pose, "vertex": vertex},
            "series": {
                measure: {statistic: [number(pose[measure][statistic]) for pose in result.poses] for statistic in kinds}
                for measure, kinds in MEASURES.items()
                if measure != "pop"
            },
            "pop_series": [[number(value) for value in path["largest"]] for path in result.pops],
        }


def evaluate(
    character: Character,
    motions: Sequence[MeasuredMotion],
    methods: dict[str, NamedMethod],
    *,
    progress: Callable[[], None] = lambda: None,
) -> Report:
    """Measure methods over motions. In each pose all methods are measured on the same part of the surface.

    Parameters
    ----------
    character : Character
    motions : sequence of MeasuredMotion
        With different names.
    methods : dict of NamedMethod
        By the names used in the report.
    progress : callable
        Called after each method of each motion.

    Returns
    -------
    Report

    Raises
    ------
    ValueError
        If the mesh has no triangle with an area, or two motions have the same name.
    """
    names = [motion.name for motion in motions]
    if len(set(names)) < len(names):
        raise ValueError(f"motions: {max(names, key=names.count)!r} is the name of more than one")
    gauge = Gauge(character)
    skins = {name: method.skin(character) for name, method in methods.items()}
    results = {}
    for motion in motions:
        posed = _poses_side_by_side(gauge, motion, skins, methods)
        for name, method in methods.items():
            shapes = motion.shapes(character)
            times = motion.path_times or tuple(np.zeros(len(path)) for path in motion.paths)
            pops = tuple(
                path_pops(gauge, path, skins[name], method.options, shapes, seconds)
                for path, seconds in zip(motion.paths, times, strict=True)
            )
            results[motion.name, name] = replace(posed[name], pops=pops)
            progress()
    return Report(gauge, tuple(motions), methods, skins, results)


def _poses_side_by_side(
    gauge: Gauge, motion: MeasuredMotion, skins: dict[str, Deformer], methods: dict[str, NamedMethod]
) -> dict[str, Result]:
    """Measure all methods in the poses of a motion; in each pose percentiles are over one region for all of them."""
    poses: dict[str, list[dict[str, Statistics]]] = {name: [] for name in methods}
    limbs: dict[str, list[NDArray[np.float64]]] = {name: [] for name in methods}
    worst = dict.fromkeys(methods, (-np.inf, 0, -1))
    for index, matrices in enumerate(motion.poses):
        rest = motion.rest_positions(gauge.character, index)
        posed = gauge if rest is None else Gauge(gauge.character, rest)
        shapes = {name: deformed(skins[name], matrices, rest, method.options) for name, method in methods.items()}
        region = posed.region(matrices, shapes.values())
        for name, positions in shapes.items():
            poses[name].append(posed.measure(matrices, positions, region))
            limbs[name].append(posed.matched_limb_volumes(gauge.limbs, positions))
            torn = poses[name][-1]["tear"]["largest"]
            if torn > worst[name][0]:
                worst[name] = (torn, index, posed.worst_tear(positions))
    return {name: Result(poses[name], np.array(limbs[name]), (), worst[name][1:]) for name in methods}


def path_pops(
    gauge: Gauge,
    path: NDArray[np.float64],
    skin: Deformer,
    options: DeformOptions,
    shapes: ShapeMotion | None = None,
    times: NDArray[np.float64] | None = None,
) -> dict[str, NDArray[np.float64]]:
    """`Gauge.pops` of a path of any length, in pieces; with blend shapes at times (S,)."""
    pieces: dict[str, list[NDArray[np.float64]]] = {statistic: [] for statistic in MEASURES["pop"]}
    for start in range(0, len(path) - 2, AT_ONCE):
        matrices = path[start : start + AT_ONCE + 3]  # a jump takes four poses
        if shapes is None or times is None:
            found = gauge.pops(matrices, skin.deform_many(matrices, **options))
        else:
            rests = np.stack([shapes.rest_positions(time) for time in times[start : start + len(matrices)].tolist()])
            pairs = zip(matrices, rests, strict=True)
            positions = np.stack([deformed(skin, pose, rest, options) for pose, rest in pairs])
            found = gauge.pops(matrices, positions, rests.astype(np.float64) - shapes.positions)
        for statistic, values in found.items():
            pieces[statistic].append(values[:AT_ONCE])
    return {statistic: np.concatenate(values) for statistic, values in pieces.items()}


def number(value: float) -> float | None:
    """A number for JSON, with the digits that float32 determines; None for NaN."""
    return float(f"{value:.{DIGITS}g}") if np.isfinite(value) else None


def in_words(measure: str, value: float) -> str:
    """A statistic for the table: in per cent of the rest pose, pops of the size; tears and energies as numbers."""
    if not np.isfinite(value):
        return "-"
    if measure in ("tear", "surface_energy", "bending"):
        return f"{value:.3g}" if value < 100 else f"{value:.0f}"
    if measure in ("pop", "seam"):
        return f"{value:.3%}"
    if measure == "crossing":
        return f"{value:.2%}"
    return f"{value:.1%}" if abs(value) < 10 else f"{value:.0%}"
