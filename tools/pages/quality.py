# SPDX-License-Identifier: MIT
"""The tables of docs/quality.md: losses and energies of real characters by each method, in scenes and in motion."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import click
import numpy as np
from numpy.typing import NDArray

import sbs
from sbs.characters.motions import BENDS, bending_joints
from sbs.quality import METHODS, Gauge, Report, evaluate, made_poses
from sbs.quality.measures import bending_energy, tears
from sbs.quality.methods import NamedMethod
from sbs.quality.surface import make_surface
from sbs.support.files import replacing

from .delta_mush import ANCHORS
from .exchange import all_clips, clip_names, folders, read_character
from .scenes import ROOT, Subject, subjects
from .tables import replace_tables, table

DOCS = ROOT / "docs"

PANEL = METHODS | ANCHORS
"""The measured methods: those of the package, and beside them two that smooth the surface."""

Panel = dict[str, NamedMethod]
Losses = dict[str, dict[str, float]]


def measured(subject: Subject, panel: Panel = PANEL) -> tuple[Report, dict[str, Any]]:
    """The report of a subject, and its entry in docs/quality.json: statistics without their series."""
    report = evaluate(subject.character, [subject.motion], panel)
    whole = report.as_json()
    (motion,) = whole["motions"]
    methods = {
        name: {kind: value for kind, value in result.items() if "series" not in kind and kind != "limbs"}
        for name, result in motion["methods"].items()
    }
    click.echo(f"{subject.name}: measured", err=True)
    return report, {
        "name": subject.name,
        "caption": subject.caption,
        "vertices": whole["character"]["vertices"],
        "triangles": whole["character"]["triangles"],
        "poses": len(motion["poses"]),
        "methods": methods,
    }


# --------------------------------------------------------------------------------------------------------------- losses

LEAST_AREA = 1e-3
"""A smaller share of its area counts as this, or one that is gone would be an infinite loss."""

LOSSES: dict[str, tuple[float, Callable[[dict[str, Any]], float]]] = {
    "volume": (0.02, lambda result: max(1 - result["volume"]["smallest"], result["volume"]["largest"] - 1)),
    "limb": (0.05, lambda result: 1 - result["limb_volume"]["smallest"]),
    "thinner": (0.1, lambda result: 1 - result["thickness"]["low"]),
    "bulge": (0.1, lambda result: result["thickness"]["high"] - 1),
    "squashed": (0.2, lambda result: -float(np.log2(max(result["area"]["low"], LEAST_AREA)))),
    "stretched": (0.2, lambda result: float(np.log2(max(result["area"]["high"], LEAST_AREA)))),
    "tear": (0.2, lambda result: result["tear"]["high"]),
}
"""Each loss of the rest pose with its floor. To shrink where others bulge is no gain: no loss is below 0.

Where LBS loses less than the floor, losses are shares of the floor: it is hardly seen, and a share of nothing is no
number.
"""


def scene_losses(scene: dict[str, Any]) -> Losses:
    """For each method its losses in a scene."""
    return {
        method: {loss: max(measure(result), 0.0) for loss, (_, measure) in LOSSES.items()}
        for method, result in scene["methods"].items()
    }


def mean_losses(scenes: Sequence[dict[str, Any]]) -> Losses:
    """For each method the mean of each loss over the scenes."""
    found = [scene_losses(scene) for scene in scenes]
    return {
        method: {loss: float(np.mean([scene[method][loss] for scene in found])) for loss in LOSSES}
        for method in found[0]
    }


def totals(losses: Losses) -> dict[str, float]:
    """For each method the mean of its losses, each as a share of the loss of LBS, or of its floor."""
    return {
        method: float(np.mean([values[loss] / max(losses["LBS"][loss], floor) for loss, (floor, _) in LOSSES.items()]))
        for method, values in losses.items()
    }


def most_torn(scenes: Sequence[dict[str, Any]]) -> dict[str, float]:
    """For each method its largest tear of a scene relative to LBS, in the scene where this is most."""
    found = [{name: result["tear"]["largest"] for name, result in scene["methods"].items()} for scene in scenes]
    return {method: max(scene[method] / scene["LBS"] for scene in found) for method in found[0]}


def largest_jump(scenes: Sequence[dict[str, Any]], *, through_half_a_turn: bool) -> dict[str, float]:
    """For each method its largest jump, in the scene that twists through half a turn or in the others."""
    chosen = [scene for scene in scenes if (scene["name"] == "twisted arm") == through_half_a_turn]
    return {
        method: max(scene["methods"][method]["pop"]["jump"] or 0 for scene in chosen) for method in scenes[0]["methods"]
    }


# ------------------------------------------------------------------------------------------------------------ in motion

TEARS_OF = ("LBS", "DQS", "SBS", "weighted")


def tears_in_motion(folder: Path) -> dict[str, Any]:
    """The entry of a character in docs/quality.json: the largest tear in any frame of its clips, by each method."""
    character = read_character(folder, ())
    mesh = character.mesh
    surface = make_surface(mesh.positions, mesh.triangles, mesh.joint_indices, np.asarray(mesh.joint_weights))
    clips = all_clips(folder)
    matrices = np.concatenate(clips)
    skin = sbs.Skin(
        mesh.positions.astype(np.float64),
        mesh.joint_indices,
        mesh.joint_weights,
        parents=character.skeleton.parents,
        joint_positions=character.skeleton.joint_positions,
    )
    largest = {
        method: max(
            float(tears(surface, np.asarray(positions, np.float64)[surface.kept]).max())
            for positions in (skin.deform(frame, **METHODS[method].options) for frame in matrices)
        )
        for method in TEARS_OF
    }
    click.echo(f"{folder.name}: in motion", err=True)
    return {"name": folder.name, "clips": len(clips), "frames": len(matrices), "tears": largest}


# ------------------------------------------------------------------------------------------------------------- energies

ENERGIES = {"surface": 0.005, "bending": 0.5, "volume": 0.002}
"""The surface's own energies and the loss of volume, each with the floor below which nobody sees it."""
KINDS = ("bends", "twists", "clips")
TWISTS_OF_LIMBS = "twists of limbs"
"""Twists that can be spread along a bone."""
CLIP_POSES = 8


def energies_of(gauge: Gauge, positions: NDArray[Any]) -> tuple[float, ...]:
    """The surface energy, the bending energy and the loss of volume of a pose; no weights, joints or regions in it."""
    surface = gauge.surface
    points = np.asarray(positions, np.float64)[surface.kept]
    volume = float(surface.whole.volumes(points)[0] / surface.whole.volumes(surface.positions)[0])
    return gauge.surface_energy(points), bending_energy(surface, points), abs(volume - 1)


def over_linear(energies: Sequence[float], linear: Sequence[float]) -> list[float]:
    """Energies divided by the energies of linear blending, or by their floors."""
    return [
        max(energy, floor) / max(base, floor)
        for energy, base, floor in zip(energies, linear, ENERGIES.values(), strict=True)
    ]


def made_and_moving(character: sbs.Character, clips: Sequence[NDArray[np.float64]]) -> dict[str, NDArray[np.float64]]:
    """Poses of some kinds: joints bent, joints twisted, of these the limbs, and moments of clips."""
    joints = sorted(set(Gauge(character).limbs) & set(bending_joints(character)))
    made = made_poses(character, [character.skeleton.names[joint] for joint in joints]).poses
    by_joint = made.reshape(-1, len(BENDS) + 1, *made.shape[1:])
    limbs = [bone.joint for bone in sbs.twist_bones(character) if bone.spread]
    kinds = {
        "bends": by_joint[:, :-1].reshape(-1, *made.shape[1:]),
        "twists": by_joint[:, -1],
        TWISTS_OF_LIMBS: by_joint[np.isin(joints, limbs), -1],
        "clips": made[:0],
    }
    if clips:
        moments = [frames[np.linspace(0, len(frames) - 1, CLIP_POSES).astype(int)] for frames in clips]
        kinds["clips"] = np.concatenate(moments)
    return {kind: poses for kind, poses in kinds.items() if len(poses)}


def energies_in_motion(folder: Path, panel: Panel = PANEL, every: int = 1) -> dict[str, Any]:
    """The entry of a character in docs/quality.json: for each kind of poses the mean energies by each method.

    Of many poses one of every so many may be enough.
    """
    character = read_character(folder)
    clips = all_clips(folder)
    gauge = Gauge(character)
    skins = {name: method.skin(character) for name, method in panel.items()}
    kinds = {}
    for kind, all_poses in made_and_moving(character, clips).items():
        poses = all_poses[(len(all_poses) % every) // 2 :: every]
        methods = {}
        for name, method in panel.items():
            found = [energies_of(gauge, skins[name].deform(matrices, **method.options)) for matrices in poses]
            means = (float(f"{value:.6g}") for value in np.mean(found, axis=0))
            methods[name] = dict(zip(ENERGIES, means, strict=True))
        kinds[kind] = {"poses": len(poses), "methods": methods}
    click.echo(f"{folder.name}: energies", err=True)
    return {"name": folder.name, "kinds": kinds}


def all_energies(characters: Path, panel: Panel = PANEL, every: int = 1) -> list[dict[str, Any]]:
    """`energies_in_motion` of every character."""
    return [energies_in_motion(folder, panel, every) for folder in folders(characters)]


def energy_shares(characters: Sequence[dict[str, Any]], kind: str) -> Losses:
    """For each method and each character with such poses: the geometric mean of its energies relative to LBS."""
    shares: Losses = {}
    for character in characters:
        methods = character["kinds"].get(kind, {"methods": {}})["methods"]
        for method, values in methods.items():
            over = over_linear(list(values.values()), list(methods["LBS"].values()))
            shares.setdefault(method, {})[character["name"]] = geometric_mean(over)
    return shares


def geometric_mean(values: Sequence[float]) -> float:
    return float(np.exp(np.mean(np.log(values))))


# ----------------------------------------------------------------------------------------------------------- the tables


def measure_all(characters: Path) -> None:
    """Write docs/quality.json."""
    numbers = {
        "schema": 2,
        "scenes": [measured(subject)[1] for subject in subjects(characters)],
        "motions": [tears_in_motion(folder) for folder in folders(characters) if clip_names(folder)],
        "energies": all_energies(characters),
    }
    with replacing(DOCS / "quality.json") as temporary:
        temporary.write_text(json.dumps(numbers, indent=1) + "\n", encoding="utf-8")


def write(characters: Path | None = None, docs: Path = DOCS) -> None:
    """Write the tables of the page from docs/quality.json, which is measured again if there are characters."""
    if characters is not None:
        measure_all(characters)
    numbers = json.loads((docs / "quality.json").read_text(encoding="utf-8"))
    scenes, energies = numbers["scenes"], numbers["energies"]
    tables = {
        "tears": tears_table(numbers["motions"]),
        "energies": energies_table(energies),
        "clips": by_method(energy_shares(energies, "clips")),
        "crossing": crossing_table(scenes),
        "losses": losses_table(scenes),
        "scenes": by_method(transposed({each["name"]: totals(scene_losses(each)) for each in scenes})),
    }
    replace_tables(docs / "quality.md", tables)


def transposed(found: dict[str, dict[str, float]]) -> dict[str, dict[str, float]]:
    """By the inner names, then by the outer ones."""
    inner = next(iter(found.values()))
    return {name: {outer: values[name] for outer, values in found.items()} for name in inner}


def by_method(found: dict[str, dict[str, float]]) -> str:
    """A row for each method, a column for each character or scene."""
    rows = [[method, *(f"{value:.3f}" for value in values.values())] for method, values in found.items()]
    return table(["", *found["LBS"]], rows)


def tears_table(motions: Sequence[dict[str, Any]]) -> str:
    """The tears of characters in motion."""
    rows = []
    for item in motions:
        torn = item["tears"]
        cells = [*(f"{torn[method]:.2f}" for method in TEARS_OF), f"{torn['weighted'] / torn['LBS']:.3f}"]
        rows.append([item["name"], str(item["clips"]), f"{item['frames']:,}", *cells])
    return table(["", "clips", "frames", *TEARS_OF, "weighted / LBS"], rows)


def energies_table(characters: Sequence[dict[str, Any]]) -> str:
    """The energies relative to LBS, for each kind of poses and for all."""
    means = transposed(
        {
            kind: {method: geometric_mean(list(values.values())) for method, values in shares.items()}
            for kind in (*KINDS, TWISTS_OF_LIMBS)
            for shares in [energy_shares(characters, kind)]
        }
    )
    for values in means.values():
        values["all"] = geometric_mean([values[kind] for kind in KINDS])
        values[TWISTS_OF_LIMBS] = values.pop(TWISTS_OF_LIMBS)
    return by_method(means)


def crossing_table(scenes: Sequence[dict[str, Any]]) -> str:
    """The surface that crosses itself in each scene, by each method."""
    knee = next(scene for scene in scenes if scene["name"] == "bent knee")
    ordered = [knee, *(scene for scene in scenes if scene is not knee)]
    rows = []
    for method in knee["methods"]:
        crossings = [scene["methods"][method]["crossing"] for scene in ordered]
        rows.append([method, f"{crossings[0]['triangles']:.0f}", *(f"{each['area']:.2%}" for each in crossings)])
    return table(["", "triangles, bent knee", *(scene["name"] for scene in ordered)], rows)


def losses_table(scenes: Sequence[dict[str, Any]]) -> str:
    """The mean losses over the scenes."""
    losses, torn = mean_losses(scenes), most_torn(scenes)
    total = totals(losses)
    jumps, half_turn = (largest_jump(scenes, through_half_a_turn=flag) for flag in (False, True))
    rows = [
        [
            method,
            *(f"{value:.3f}" for value in (*values.values(), total[method])),
            f"{torn[method]:.2f}",
            f"{jumps[method]:.3%}",
            f"{half_turn[method]:.3%}",
        ]
        for method, values in losses.items()
    ]
    return table(["", *LOSSES, "together", "torn most", "jump", "jump at 180°"], rows)
