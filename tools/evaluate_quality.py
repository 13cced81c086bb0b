# SPDX-License-Identifier: MIT
"""Measure the methods on real characters: the tables and the pictures of docs/quality.md.

    python tools/evaluate_quality.py CHARACTERS

CHARACTERS is the folder of make_test_data.py; what comes with the package and the tests is taken from there. Writes
docs/quality.json, docs/images/quality.png and docs/images/quality-curves.png, and from the numbers the part of
docs/quality.md between its markers. Without CHARACTERS it writes that part anew from docs/quality.json.
"""

from __future__ import annotations

import json
import textwrap
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click
import numpy as np
from numpy.typing import NDArray

import sbs
from characters_to_glb import read_character, read_clip, read_rig
from delta_mush import ANCHORS
from sbs.character import Character, Mesh
from sbs.demo.scenes import Scene, fist, knee, twist
from sbs.files import replacing
from sbs.picture import Camera, Row, compose
from sbs.poses import axes, turned
from sbs.quality import METHODS, Gauge, Motion, Report, clip, evaluate, made_poses, sweep
from sbs.quality.measures import bending_energy, tears
from sbs.quality.methods import TwistMethod
from sbs.quality.motions import BENDS, bending_joints
from sbs.quality.panel import FOOTNOTE, panel_row, shapes, worst_pose
from sbs.quality.plot import plot
from sbs.quality.report import in_words
from sbs.quality.surface import make_surface
from sbs.rotations import matrices_from_axis_angle
from sbs.samples import load as load_sample
from sbs.skeleton import Skeleton
from sbs.weights import from_dense

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
BEGIN = "<!-- Written by tools/evaluate_quality.py: do not edit. -->\n"
END = "<!-- End of what tools/evaluate_quality.py writes. -->\n"

OFFERED = tuple(METHODS)
"""The methods that the add-on has, one of which is its default."""

PANEL = METHODS | ANCHORS
"""What is measured: the methods of the package, and beside them what smooths."""

MOST_TORN = 3.0
"""A method that tears an edge of a scene more than this times what LBS does is no default. To keep a limb's thickness
in a twist takes about twice the tear of a limb that collapses; surface that comes apart has ten times as much."""


@dataclass(frozen=True)
class Subject:
    """A row of the figure.

    Attributes
    ----------
    name : str
        For tables.
    caption : str
    character : Character
    motion : Motion
    view, up : (float, float, float)
        Towards the camera, and upward.
    aspect : float
        Width to height of a picture.
    camera : Camera or None
        In place of one that has all of the character in view.
    joints : tuple of str
        Or else all that these joints move.
    """

    name: str
    caption: str
    character: Character
    motion: Motion
    view: tuple[float, float, float] = (0.5, 0.2, 1)
    up: tuple[float, float, float] = (0, 1, 0)
    aspect: float = 1.0
    camera: Camera | None = None
    joints: tuple[str, ...] = ()


def still(scene: Scene, path: NDArray[np.float64]) -> Subject:
    """A pose of the demo, with a path of its own."""
    motion = Motion(scene.name, (scene.name,), scene.skinning_matrices[None], (path,))
    return Subject(scene.name, "", scene.character, motion, aspect=scene.aspect, camera=scene.camera)


def twisted_arm() -> Subject:
    """The demo's forearm, and a path through half a turn."""
    woman = load_sample("woman")
    _, bone = axes(woman.skeleton, woman.skeleton.index("LeftForeArm"))
    subject = still(twist(woman), sweep(woman, "LeftForeArm", bone))
    return described(subject, "The left forearm twisted by 170°, from behind")


def bent_knee() -> Subject:
    """The demo's knee, and the path to it."""
    woman = load_sample("woman")
    local = [turned(woman.skeleton, "LeftLeg", (1, 0, 0), -degrees) for degrees in np.arange(0, 126, 2.5)]
    return described(still(knee(woman), woman.skinning_matrices(np.stack(local))), "The left knee bent by 125°")


def closed_hand() -> Subject:
    """The fist of the demo, the whole way."""
    hand = fist(load_sample("hand")).character
    motion = clip(hand.animations[0])
    return Subject("fist", "A hand closed to a fist", hand, motion, view=(0.45, -0.5, 1), up=(-1, 0, 0.45), aspect=1.3)


def rat() -> Subject:
    """The rat of the tests, attacking."""
    character = sbs.load(ROOT / "tests" / "data" / "Rat.glb")
    attack = next(animation for animation in character.animations if animation.name.endswith("Rat_Attack"))
    return Subject("rat attack", "A rat that attacks", character, clip(attack), view=(1, 0.3, 0.7), aspect=1.6)


def tube(rings: int = 200, sides: int = 32) -> Subject:
    """A tube of 4 joints with smooth weights of up to three influences, bent by 90 degrees and twice more."""
    x, angle = np.meshgrid(np.linspace(-0.5, 3.5, rings), np.arange(sides) * 2 * np.pi / sides, indexing="ij")
    points = np.stack([x, 0.3 * np.cos(angle), 0.3 * np.sin(angle)], axis=-1).reshape(-1, 3)
    ring, side = (index.reshape(-1) for index in np.meshgrid(np.arange(rings - 1), np.arange(sides), indexing="ij"))
    a, b = ring * sides + side, ring * sides + (side + 1) % sides
    triangles = np.concatenate([np.stack([a, b + sides, a + sides], 1), np.stack([a, b, b + sides], 1)])
    weights = np.maximum(1 - np.abs(points[:, :1] - np.arange(4)) / 1.3, 0) ** 2
    bind = np.tile(np.eye(4), (4, 1, 1))
    bind[:, 0, 3] = np.arange(4)
    skeleton = Skeleton([-1, 0, 1, 2], bind)
    influences = from_dense(weights / weights.sum(axis=1, keepdims=True))
    mesh = Mesh(points, triangles.astype(np.int32), influences.joint_indices, influences.joint_weights)
    character = Character.from_mesh(mesh, skeleton, name="tube")
    turns = matrices_from_axis_angle(np.eye(3)[[0, 1, 2, 1]], [0, 40, 90, -60], degrees=True)
    caption = "A tube of four joints, bent by 40°, 90° and 60°"
    return Subject("tube", caption, character, Motion("tube", ("bent",), character.skinning_matrices(turns)[None]))


OWN: dict[str, Callable[[], Subject]] = {
    "twisted arm": twisted_arm,
    "bent knee": bent_knee,
    "fist": closed_hand,
    "rat attack": rat,
    "tube": tube,
}


def arnaud(characters: Path) -> Subject:
    """Gymnastics."""
    character = read_character(characters / "arnaud_ozz", ["atlas"])
    return Subject("arnaud atlas", "Gymnastics (arnaud, atlas)", character, clip(character.animations[0]))


def benchmark(characters: Path) -> Subject:
    """MakeHuman's own poses to judge weights by."""
    character = read_character(characters / "woman_makehuman_default", ["benchmark"])
    caption = "MakeHuman's poses to judge weights by (benchmark)"
    shoulders = ("upperarm01.L", "upperarm01.R", "spine01", "spine02", "head")
    return Subject("MakeHuman benchmark", caption, character, clip(character.animations[0]), joints=shoulders)


def described(subject: Subject, caption: str) -> Subject:
    return Subject(**{**vars(subject), "caption": caption})


def subjects(characters: Path) -> Iterator[Subject]:
    """All, in the order of the page."""
    for make in OWN.values():
        yield make()
    yield arnaud(characters)
    yield benchmark(characters)


# ------------------------------------------------------------------------------------------------------------- numbers


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

CLIP_POSES = 8


def energies_of(gauge: Gauge, positions: NDArray[Any]) -> tuple[float, ...]:
    """The surface energy, the bending energy and the loss of volume of a pose; no weights, joints or regions in it."""
    surface = gauge.surface
    points = np.asarray(positions, np.float64)[surface.kept]
    volume = float(surface.whole.volumes(points)[0] / surface.whole.volumes(surface.positions)[0])
    return gauge.surface_energy(points), bending_energy(surface, points), abs(volume - 1)


def made_and_moving(character: Character, clips: Sequence[NDArray[np.float64]]) -> dict[str, NDArray[np.float64]]:
    """Poses of three kinds: limbs bent, limbs twisted, and moments of clips."""
    limbs = set(Gauge(character).limbs) & set(bending_joints(character))
    made = made_poses(character, [character.skeleton.names[joint] for joint in sorted(limbs)]).poses
    by_joint = made.reshape(-1, len(BENDS) + 1, *made.shape[1:])
    kinds = {
        "bends": by_joint[:, :-1].reshape(-1, *made.shape[1:]),
        "twists": by_joint[:, -1],
    }
    if clips:
        moments = [frames[np.linspace(0, len(frames) - 1, CLIP_POSES).astype(int)] for frames in clips]
        kinds["clips"] = np.concatenate(moments)
    return kinds


def energies_in_motion(folder: Path) -> dict[str, Any]:
    """What docs/quality.json keeps of a character: for each kind of poses the mean energies by each method."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", sbs.WeightWarning)
        character = read_character(folder, [])
    clips = [read_clip(path, slice(None))[1] for path in sorted(folder.glob("*.clip.bin"))]
    gauge = Gauge(character)
    skins = {name: method.skin(character) for name, method in PANEL.items()}
    kinds = {}
    for kind, poses in made_and_moving(character, clips).items():
        means = {
            name: np.mean(
                [energies_of(gauge, skins[name].deform(matrices, **method.options)) for matrices in poses], axis=0
            )
            for name, method in PANEL.items()
        }
        kinds[kind] = {
            "poses": len(poses),
            "methods": {name: dict(zip(ENERGIES, map(rounded, values), strict=True)) for name, values in means.items()},
        }
    return {"name": folder.name, "kinds": kinds}


def rounded(value: float) -> float:
    return float(f"{value:.6g}")


def all_energies(characters: Path) -> Iterator[dict[str, Any]]:
    """The same of every character there is."""
    for folder in sorted(characters.iterdir()):
        if (folder / "rig.txt").exists():
            yield energies_in_motion(folder)
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


# ---------------------------------------------------------------------------------------------------------------- page


def section(numbers: dict[str, Any]) -> str:
    """The part of the page that has numbers."""
    scenes, motions, energies = numbers["scenes"], numbers["motions"], numbers["energies"]
    parts = []
    for scene in scenes:
        parts += [f"### {scene['caption']}", overview(scene), table(*scene_table(scene))]
    parts += ["### Tears of characters in motion", *motion_report(motions)]
    parts += ["### By the energy of the surface", *energy_report(energies)]
    losses = mean_losses(scenes)
    parts += ["### All together", *conclusion(scenes, losses)]
    return "\n" + "\n\n".join(parts) + "\n\n"


def overview(scene: dict[str, Any]) -> str:
    many = "one pose" if scene["poses"] == 1 else f"the worst of {scene['poses']} poses"
    return f"{scene['vertices']:,} vertices, {scene['triangles']:,} triangles; {many}."


CELLS = (
    ("volume", "volume", "smallest"),
    ("limb", "limb_volume", "smallest"),
    ("area 1%", "area", "low"),
    ("area 99%", "area", "high"),
    ("least area", "area", "smallest"),
    ("largest area", "area", "largest"),
    ("shortest edge", "edge", "smallest"),
    ("longest edge", "edge", "largest"),
    ("thickness 1%", "thickness", "low"),
    ("thickness 99%", "thickness", "high"),
    ("tear 99%", "tear", "high"),
    ("largest tear", "tear", "largest"),
    ("surface energy", "surface_energy", "mean"),
    ("bending", "bending", "total"),
    ("jump", "pop", "jump"),
)


def scene_table(scene: dict[str, Any]) -> tuple[list[str], list[list[str]]]:
    rows = [
        [method, *(in_words(measure, as_float(result[measure][statistic])) for _, measure, statistic in CELLS)]
        for method, result in scene["methods"].items()
    ]
    return ["", *(heading for heading, _, _ in CELLS)], rows


def motion_report(motions: Sequence[dict[str, Any]]) -> Iterator[str]:
    """The tears of characters in motion."""
    over_lbs = [item["tears"]["weighted"] / item["tears"]["LBS"] for item in motions]
    fewer = sum(ratio <= AS_MUCH for ratio in over_lbs)
    yield wrapped(
        "The table has the largest tear at any edge in any frame of all clips of a character. With weighted centers it"
        f" is at most {AS_MUCH:g} times that of LBS on {fewer} of {len(motions)} characters. DQS, which has no centers,"
        " tears as much as they do. Where they tear more than LBS, this is the price of limbs that keep their radius"
        " although the weights change a lot from one vertex to the next."
    )
    rows = [
        [
            item["name"],
            str(item["clips"]),
            f"{item['frames']:,}",
            *(f"{item['tears'][method]:.2f}" for method in TEARS_OF),
            f"{ratio:.3f}",
        ]
        for item, ratio in zip(motions, over_lbs, strict=True)
    ]
    yield table(["", "clips", "frames", *TEARS_OF, "weighted / LBS"], rows)


KINDS = ("bends", "twists", "clips")


def energy_report(characters: Sequence[dict[str, Any]]) -> Iterator[str]:
    """The second ranking, and what each character has to say in it."""
    poses = {kind: sum(each["kinds"][kind]["poses"] for each in characters if kind in each["kinds"]) for kind in KINDS}
    yield wrapped(
        f"This ranking uses {len(characters)} characters: {poses['bends']} poses with a limb bent, {poses['twists']}"
        f" with one twisted, and {poses['clips']} moments of their clips. For each character and each kind of pose"
        " there are three means: of the surface energy, of the bending energy, and of the volume that is lost or"
        " gained. Each is divided by that of LBS, or by its floor"
        f" ({', '.join(f'{energy} {floor:g}' for energy, floor in ENERGIES.items())}) if the floor is larger. The table"
        " has the geometric mean of the three ratios over all characters. Less is better. The measure ignores weights,"
        " joints and parts of the surface, so a method can't move a fault to where it is not counted."
    )
    shares = {kind: energy_shares(characters, kind) for kind in KINDS}
    means = {
        method: {kind: geometric_mean(list(shares[kind][method].values())) for kind in KINDS}
        for method in shares[KINDS[0]]
    }
    rows = [
        [method, *(f"{values[kind]:.3f}" for kind in KINDS), f"{geometric_mean(list(values.values())):.3f}"]
        for method, values in means.items()
    ]
    yield table(["", *KINDS, "all"], rows)
    yield "The clips of each character:"
    names = list(shares["clips"]["LBS"])
    yield table(
        ["", *names],
        [[method, *(f"{values[name]:.3f}" for name in names)] for method, values in shares["clips"].items()],
    )


def as_float(value: float | None) -> float:
    return np.nan if value is None else value


def conclusion(scenes: Sequence[dict[str, Any]], losses: dict[str, dict[str, float]]) -> Iterator[str]:
    """The means over the scenes, and which method is to be the default by them."""
    total, torn = totals(losses), most_torn(scenes)
    jumps, half_turn = (largest_jump(scenes, through_half_a_turn=flag) for flag in (False, True))
    floors = ", ".join(f"{loss} {floor:g}" for loss, floor in FLOORS.items())
    yield wrapped(
        "The table has the mean losses over the scenes; 0 means no loss. They are the volume that is lost or gained,"
        " the volume that the worst limb loses, how much thinner the surface becomes, how much it bulges, how often its"
        " area is halved, how often it is doubled, and the tear. No loss is counted below 0, because shrinking where"
        " others bulge is no gain. *Together* is the mean of these losses, each divided by that of LBS, or by a floor"
        f" if LBS loses less than that ({floors}). *Torn most* is the largest tear of a scene as a multiple of that of"
        " LBS, in the scene where this multiple is largest. The last two columns have the largest jumps, outside of the"
        " twist through half a turn and in it."
    )
    rows = [
        [
            method,
            *(f"{losses[method][loss]:.3f}" for loss in LOSSES),
            f"{total[method]:.3f}",
            f"{torn[method]:.2f}",
            f"{jumps[method]:.3%}",
            f"{half_turn[method]:.3%}",
        ]
        for method in losses
    ]
    yield table(["", *LOSSES, "together", "torn most", "jump", "jump at 180°"], rows)
    yield "Together in each scene:"
    by_scene = {
        scene["name"]: totals({name: losses_of(each) for name, each in scene["methods"].items()}) for scene in scenes
    }
    shares = [[method, *(f"{each[method]:.3f}" for each in by_scene.values())] for method in losses]
    yield table(["", *by_scene], shares)
    best = default({method: losses[method] for method in OFFERED}, torn)
    apart = ", ".join(f"{method} ({times:.1f} times)" for method, times in torn.items() if times > MOST_TORN)
    yield wrapped(
        f"**The default should be {METHODS[best].label}.** Artists ask for limbs that neither collapse nor twist like"
        " candy wrappers, without new faults in exchange. So the default has to be a method that keeps more of the"
        f" thickness and of the worst limb than LBS, and that nowhere tears an edge more than {MOST_TORN:g} times as"
        f" much. Of such methods that the add-on has, {best} loses the least together, {total[best]:.3f} of what LBS"
        " loses." + (f" Methods that tear too much: {apart}." if apart else "")
    )
    spread = [f"{name} {total[name]:.3f}" for name, method in METHODS.items() if isinstance(method, TwistMethod)]
    plain = min((total[name], name) for name, method in METHODS.items() if not isinstance(method, TwistMethod))
    yield wrapped(
        f"With the twists of limbs spread along their bones, the figures are: {', '.join(spread)}. Of the methods"
        f" without, {plain[1]} loses the least, {plain[0]:.3f}."
    )


def default(losses: dict[str, dict[str, float]], torn: dict[str, float]) -> str:
    """The method that artists should get.

    What they ask for is that limbs neither collapse nor twist like candy wrappers, without new faults in exchange. So
    it is one that keeps more thickness and more of the worst limb than LBS, and whose surface does not come apart; of
    those, the one that loses least together.
    """
    keeping = [
        method
        for method, values in losses.items()
        if torn[method] <= MOST_TORN and all(values[loss] < losses["LBS"][loss] for loss in ("thinner", "limb"))
    ]
    together = totals(losses)
    return min(keeping or ["LBS"], key=lambda method: together[method])


def table(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    rule = ["---", *["---:"] * (len(columns) - 1)]
    return "\n".join(f"| {' | '.join(row)} |" for row in [columns, rule, *rows])


def wrapped(text: str) -> str:
    return "\n".join(textwrap.wrap(text, 120, break_long_words=False, break_on_hyphens=False))


def update_page(numbers: dict[str, Any], page: Path) -> None:
    """Replace the part between the markers.

    Raises
    ------
    ValueError
        If the page has not both markers.
    """
    text = page.read_text(encoding="utf-8")
    if BEGIN not in text or END not in text:
        raise ValueError(f"{page} has no part to replace: {BEGIN.strip()}")
    before, rest = text.split(BEGIN)
    with replacing(page) as temporary:
        new = section(numbers)
        temporary.write_text(before + BEGIN + new + END + rest.split(END)[1], encoding="utf-8")


# ------------------------------------------------------------------------------------------------------------- pictures


def seen(subject: Subject) -> NDArray[np.bool_]:
    """Which vertices (V,) are to be in view."""
    if not subject.joints:
        return np.ones(subject.character.skin.vertex_count, bool)
    chosen = [subject.character.skeleton.index(joint) for joint in subject.joints]
    mesh = subject.character.mesh
    return np.asarray(np.any(np.isin(mesh.joint_indices, chosen) & (mesh.joint_weights > 0.5), axis=1))


def picture_row(subject: Subject, report: Report, width: int, samples: int) -> Row:
    pose = worst_pose(report, subject.motion)
    camera = subject.camera
    if camera is None:
        shown = seen(subject)
        points = np.concatenate([shape[shown] for shape in shapes(report, subject.motion, pose).values()])
        camera = Camera.framing(points, subject.view, subject.up, aspect=subject.aspect)
    where = "" if subject.motion.times is None else f", at {subject.motion.labels[pose]}"
    size = (width, round(width / subject.aspect))
    return panel_row(report, subject.motion, pose, camera, size, samples=samples, caption=subject.caption + where)


@click.command(help=__doc__.splitlines()[0])
@click.argument("characters", required=False, type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.option("--docs", type=click.Path(exists=True, file_okay=False, path_type=Path), default=DOCS)
@click.option("--width", default=320, show_default=True, help="Pixels across a picture.")
@click.option("--samples", default=48, show_default=True, help="Light paths per pixel; 0: no pictures.")
def main(characters: Path | None, docs: Path, width: int, samples: int) -> None:
    if characters is not None:
        motions, energies = list(in_motion(characters)), list(all_energies(characters))
        evaluate_all(list(subjects(characters)), motions, energies, docs, width, samples)
    update_page(json.loads((docs / "quality.json").read_text(encoding="utf-8")), docs / "quality.md")


def evaluate_all(
    chosen: Sequence[Subject],
    motions: Sequence[dict[str, Any]],
    energies: Sequence[dict[str, Any]],
    docs: Path,
    width: int,
    samples: int,
) -> None:
    """Write the numbers and the pictures."""
    scenes, reports, pictures = [], [], []
    for subject in chosen:
        report = measured(subject)
        scenes.append(facts(subject, report))
        reports.append(report)
        click.echo(f"{subject.name}: measured", err=True)
        if samples:
            pictures.append(picture_row(subject, report, width, samples))
            click.echo(f"{subject.name}: drawn", err=True)
    with replacing(docs / "quality.json") as temporary:
        numbers = {"schema": 2, "scenes": scenes, "motions": motions, "energies": energies}
        temporary.write_text(json.dumps(numbers, indent=1) + "\n", encoding="utf-8")
    if samples:
        headings = [method.label for method in PANEL.values()]
        with replacing(docs / "images" / "quality.png") as temporary:
            compose(pictures, headings, FOOTNOTE).save(temporary, optimize=True)
        moving = [report for report in reports if report.motions[0].times is not None]
        plot(moving, docs / "images" / "quality-curves.png")


if __name__ == "__main__":
    main()
