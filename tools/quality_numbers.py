# SPDX-License-Identifier: MIT
"""The numbers of docs/quality.md: what each method loses of real characters, in scenes and in motion."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import click
import numpy as np
from numpy.typing import NDArray

import sbs
from characters_to_glb import read_character, read_clip, read_rig
from delta_mush import ANCHORS
from quality_subjects import Subject
from sbs.characters.character import Character
from sbs.quality import METHODS, Gauge, Report, evaluate, made_poses
from sbs.quality.measures import bending_energy, tears
from sbs.quality.methods import NamedMethod
from sbs.quality.motions import BENDS, bending_joints
from sbs.quality.surface import make_surface

OFFERED = tuple(METHODS)
"""The methods that the add-on has, one of which is its default."""

PANEL = METHODS | ANCHORS
"""What is measured: the methods of the package, and beside them what smooths."""

MOST_TORN = 3.0
"""A method that tears an edge of a scene more than this times what LBS does is no default. To keep a limb's thickness
in a twist takes about twice the tear of a limb that collapses; surface that comes apart has ten times as much."""


def measured(subject: Subject) -> Report:
    return evaluate(subject.character, [subject.motion], PANEL)


def facts(subject: Subject, report: Report) -> dict[str, Any]:
    """What docs/quality.json keeps of a subject: statistics without their series."""
    whole = report.as_json()
    (motion,) = whole["motions"]
    return {
        "name": subject.name,
        "caption": subject.caption,
        "vertices": whole["character"]["vertices"],
        "triangles": whole["character"]["triangles"],
        "poses": len(motion["poses"]),
        "methods": {
            name: {kind: value for kind, value in result.items() if "series" not in kind and kind != "limbs"}
            for name, result in motion["methods"].items()
        },
    }


LOSSES: dict[str, Callable[[dict[str, Any]], float]] = {
    "volume": lambda result: max(1 - result["volume"]["smallest"], result["volume"]["largest"] - 1),
    "limb": lambda result: 1 - result["limb_volume"]["smallest"],
    "thinner": lambda result: 1 - result["thickness"]["low"],
    "bulge": lambda result: result["thickness"]["high"] - 1,
    "squashed": lambda result: -float(np.log2(max(result["area"]["low"], LEAST_AREA))),
    "stretched": lambda result: float(np.log2(max(result["area"]["high"], LEAST_AREA))),
    "tear": lambda result: result["tear"]["high"],
}
"""What is lost of the rest pose, 0 if nothing. To shrink where others bulge is no gain: below 0 there is nothing."""

LEAST_AREA = 1e-3
"""A smaller share of its area counts as this, or one that is gone would be an infinite loss."""

FLOORS = {
    "volume": 0.02,
    "limb": 0.05,
    "thinner": 0.1,
    "bulge": 0.1,
    "squashed": 0.2,
    "stretched": 0.2,
    "tear": 0.2,
}
"""Where LBS loses less than this, losses are told as shares of this: it is hardly seen, and a share of nothing is no
number."""


def losses_of(result: dict[str, Any]) -> dict[str, float]:
    """What a method loses in a scene."""
    return {loss: max(measure(result), 0.0) for loss, measure in LOSSES.items()}


def mean_losses(scenes: Sequence[dict[str, Any]]) -> dict[str, dict[str, float]]:
    """For each method the mean of each loss over the scenes."""
    return {
        method: {
            loss: float(np.mean([losses_of(scene["methods"][method])[loss] for scene in scenes])) for loss in LOSSES
        }
        for method in scenes[0]["methods"]
    }


def totals(losses: dict[str, dict[str, float]]) -> dict[str, float]:
    """For each method the mean of its losses, each as a share of that of LBS, or of its floor."""
    return {
        method: float(np.mean([values[loss] / max(losses["LBS"][loss], FLOORS[loss]) for loss in LOSSES]))
        for method, values in losses.items()
    }


def most_torn(scenes: Sequence[dict[str, Any]]) -> dict[str, float]:
    """For each method its largest tear of a scene over that of LBS, where that is most."""
    return {
        method: max(
            scene["methods"][method]["tear"]["largest"] / scene["methods"]["LBS"]["tear"]["largest"] for scene in scenes
        )
        for method in scenes[0]["methods"]
    }


def largest_jump(scenes: Sequence[dict[str, Any]], *, through_half_a_turn: bool) -> dict[str, float]:
    """For each method its largest jump, in the scene that twists through half a turn or in the others."""
    chosen = [scene for scene in scenes if (scene["name"] == "twisted arm") == through_half_a_turn]
    return {
        method: max(scene["methods"][method]["pop"]["jump"] or 0 for scene in chosen) for method in scenes[0]["methods"]
    }


TEARS_OF = ("LBS", "DQS", "SBS", "weighted")
AS_MUCH = 1.1
"""How many times as much as LBS a method may tear a character in motion."""


def tears_in_motion(folder: Path) -> dict[str, Any]:
    """What docs/quality.json keeps of a character in all frames of its clips: the largest tear by each method."""
    _, skeleton, mesh = read_rig(folder / "rig.txt")
    weights = np.asarray(mesh.joint_weights, np.float64)
    surface = make_surface(mesh.positions, mesh.triangles, mesh.joint_indices, weights)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", sbs.WeightWarning)  # what some of them need, and get
        skin = sbs.Skin(
            mesh.positions.astype(np.float64),
            mesh.joint_indices,
            weights,
            parents=skeleton.parents,
            joint_positions=skeleton.joint_positions,
        )
    clips = [read_clip(clip, slice(None))[1] for clip in sorted(folder.glob("*.clip.bin"))]
    matrices = np.concatenate(clips)
    largest = {
        method: max(
            float(tears(surface, np.asarray(positions, np.float64)[surface.kept]).max())
            for positions in (skin.deform(frame, **METHODS[method].options) for frame in matrices)
        )
        for method in TEARS_OF
    }
    return {"name": folder.name, "clips": len(clips), "frames": len(matrices), "tears": largest}


def in_motion(characters: Path) -> Iterator[dict[str, Any]]:
    """The same of every character that has clips."""
    for folder in sorted(characters.iterdir()):
        if any(folder.glob("*.clip.bin")):
            yield tears_in_motion(folder)
            click.echo(f"{folder.name}: in motion", err=True)


ENERGIES = {"surface": 0.005, "bending": 0.5, "volume": 0.002}
"""The surface's own energies and what is lost of the volume, each with the floor below which nobody sees it."""

CLIP = ".clip.bin"
CLIP_POSES = 8

KINDS = ("bends", "twists", "clips")
TWISTS_OF_LIMBS = "twists of limbs"
"""Those of the twists that can be spread along a bone."""


def energies_of(gauge: Gauge, positions: NDArray[Any]) -> tuple[float, ...]:
    """The surface energy, the bending energy and the loss of volume of a pose; no weights, joints or regions in it."""
    surface = gauge.surface
    points = np.asarray(positions, np.float64)[surface.kept]
    volume = float(surface.whole.volumes(points)[0] / surface.whole.volumes(surface.positions)[0])
    return gauge.surface_energy(points), bending_energy(surface, points), abs(volume - 1)


def made_and_moving(character: Character, clips: Sequence[NDArray[np.float64]]) -> dict[str, NDArray[np.float64]]:
    """Poses of some kinds: joints bent, joints twisted, those of them that are limbs, and moments of clips."""
    joints = sorted(set(Gauge(character).limbs) & set(bending_joints(character)))
    made = made_poses(character, [character.skeleton.names[joint] for joint in joints]).poses
    by_joint = made.reshape(-1, len(BENDS) + 1, *made.shape[1:])
    limbs = [bone.joint for bone in sbs.twist_bones(character) if bone.spread]
    kinds = {
        "bends": by_joint[:, :-1].reshape(-1, *made.shape[1:]),
        "twists": by_joint[:, -1],
        TWISTS_OF_LIMBS: by_joint[np.isin(joints, limbs), -1],
    }
    kinds = {kind: poses for kind, poses in kinds.items() if len(poses)}
    if clips:
        moments = [frames[np.linspace(0, len(frames) - 1, CLIP_POSES).astype(int)] for frames in clips]
        kinds["clips"] = np.concatenate(moments)
    return kinds


def energies_in_motion(folder: Path, panel: dict[str, NamedMethod] = PANEL, every: int = 1) -> dict[str, Any]:
    """What docs/quality.json keeps of a character: for each kind of poses the mean energies by each method.

    Of many poses `every` so many may be enough.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", sbs.WeightWarning)
        character = read_character(folder, [path.name.removesuffix(CLIP) for path in sorted(folder.glob("*" + CLIP))])
    clips = [read_clip(path, slice(None))[1] for path in sorted(folder.glob("*" + CLIP))]
    gauge = Gauge(character)
    skins = {name: method.skin(character) for name, method in panel.items()}
    kinds = {}
    for kind, all_poses in made_and_moving(character, clips).items():
        poses = all_poses[(len(all_poses) % every) // 2 :: every]
        means = {
            name: np.mean(
                [energies_of(gauge, skins[name].deform(matrices, **method.options)) for matrices in poses], axis=0
            )
            for name, method in panel.items()
        }
        kinds[kind] = {
            "poses": len(poses),
            "methods": {name: dict(zip(ENERGIES, map(rounded, values), strict=True)) for name, values in means.items()},
        }
    return {"name": folder.name, "kinds": kinds}


def rounded(value: float) -> float:
    return float(f"{value:.6g}")


def all_energies(characters: Path, panel: dict[str, NamedMethod] = PANEL, every: int = 1) -> Iterator[dict[str, Any]]:
    """The same of every character there is."""
    for folder in sorted(characters.iterdir()):
        if (folder / "rig.txt").exists():
            yield energies_in_motion(folder, panel, every)
            click.echo(f"{folder.name}: energies", err=True)


def energy_shares(characters: Sequence[dict[str, Any]], kind: str) -> dict[str, dict[str, float]]:
    """For each method and each character with such poses: its energies over those of LBS, their geometric mean."""
    shares: dict[str, dict[str, float]] = {}
    for character in characters:
        if kind not in character["kinds"]:
            continue
        methods = character["kinds"][kind]["methods"]
        for method, values in methods.items():
            over_lbs = [
                max(values[energy], floor) / max(methods["LBS"][energy], floor) for energy, floor in ENERGIES.items()
            ]
            shares.setdefault(method, {})[character["name"]] = geometric_mean(over_lbs)
    return shares


def geometric_mean(values: Sequence[float]) -> float:
    return float(np.exp(np.mean(np.log(values))))
