# SPDX-License-Identifier: MIT
"""The costs of features: frames with one over frames without, by calls from Python on one thread, all in turns."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import characters
import click
import numpy as np
from numpy.typing import NDArray

import sbs
from sbs import quality
from sbs.cli.tables import print_table
from sbs.correctives import Correctives
from sbs.mesh import subdivide_near_joints
from sbs.samples import load as load_sample
from sbs.skinning.skin import Skin

from .timing import Row, Run, deformation, frame_by_frame, measure
from .workloads import random_poses

Options = dict[str, Any]
Matrices = list[NDArray[np.float64]]

METHODS: dict[str, Options] = {
    name: dict(quality.METHODS[name].options) for name in ("LBS", "SBS", "weighted", "optimized", "DQS")
}


@dataclass(frozen=True)
class Comparison:
    """A run that is compared with another one."""

    labels: tuple[str, ...]  # cells of the table
    base: Run  # without the feature
    run: Run  # with it
    target: float | None = None  # how many times as long it may take


def deformed_frames(skin: Skin, matrices: Iterable[NDArray[np.float64]], attributes: str, **options: Any) -> Run:
    """Whole frames of a skin."""
    return frame_by_frame(deformation(skin, attributes, **options), list(matrices))


def with_normals(attributes: str) -> str:
    """The attributes in words."""
    return {"p": "positions", "pn": "positions, normals"}[attributes]


def arnaud() -> sbs.Character:
    """The character of tests/data that has nearly as many vertices as the one of Kavan and Zara 2003."""
    with np.load(characters.DATA / "arnaud_ozz.npz") as file:
        bind = np.tile(np.eye(4), (len(file["parents"]), 1, 1))
        bind[:, :3] = file["bind_matrices"]
        positions, weights = (file[name].astype(np.float32) for name in ("rest_positions", "joint_weights"))
        mesh = sbs.Mesh(positions, file["triangles"], file["joint_indices"], weights)
        skeleton = sbs.Skeleton(file["parents"], bind, file["joint_names"].tolist())
    return sbs.Character.from_mesh(mesh, skeleton, name="arnaud")


def compare_bones() -> Iterator[Comparison]:
    """Bones blending over vertex blending, beside Kavan and Zara 2003, Tables 1 and 2.

    As in the paper, the right arm is blended by its bones and all else by its vertices, on the original mesh and with
    the arm subdivided 1:4. Vertex blending is LBS with the artist's weights. The paper's ratios are of rendering, which
    is more than deforming.
    """
    arm = ("RightArm", "RightForeArm", "RightHand")
    for character in (arnaud(), load_sample("woman")):
        matrices = list(random_poses(character.skeleton, 8, 40, seed=2003))
        for mesh_name, paper in (("original", "1.15 (1,507 vertices)"), ("arm 1:4", "1.40 (2,065 vertices)")):
            subject = character if mesh_name == "original" else subdivide_near_joints(character, arm)
            mesh = subject.mesh
            linear = deformed_frames(subject.skin, matrices, "p", method="linear")
            for name, joints in (("arm", arm), ("all", None)):
                influences = (mesh.joint_indices, mesh.joint_weights)
                blending = sbs.bones_blending(subject.skeleton, mesh.positions, joints=joints, influences=influences)
                bones = deformed_frames(blending.skin(), matrices, "p", **blending.options)
                labels = (character.name, mesh_name, f"{len(mesh.positions):,}", name, paper if joints else "")
                yield Comparison(labels, linear, bones, 3.0)


def compare_twists() -> Iterator[Comparison]:
    """The woman by each method, with the twists of limbs spread and without, over LBS without."""
    woman = load_sample("woman")
    twist = sbs.limb_twist(woman)
    matrices = list(random_poses(woman.skeleton, 8, 60, seed=18))
    amounts = sbs.twist_amounts(woman, twist).astype(np.float32)
    skins = {
        (twisted, optimized): woman.twisted_skin(twist if twisted else None, optimized=optimized)
        for twisted in (False, True)
        for optimized in (False, True)
    }
    targets = {
        ("optimized", False): 1.4,
        ("optimized, in part", True): 1.6,
        ("weighted", False): 3.5,
        ("weighted, in part", True): 4.2,
    }
    for attributes in ("p", "pn"):
        linear = deformed_frames(woman.skin, matrices, attributes, method="linear")
        for name in ("LBS", "SBS", "weighted", "optimized", "weighted, in part", "optimized, in part"):
            options = METHODS[name.removesuffix(", in part")]
            for twisted in (False, True):
                skin = skins[twisted, options.get("center") == "optimized"]
                # Without twists the amount is the same everywhere.
                amount = amounts if twisted else np.full_like(amounts, amounts.min())
                part = {"amount": amount} if "in part" in name else {}
                where = f"woman {attributes}{', twists spread' if twisted else ''}"
                run = deformed_frames(skin, matrices, attributes, **options, **part)
                target = targets.get((name, twisted)) if attributes == "pn" else None
                yield Comparison((f"{name} / LBS, whole frame", where), linear, run, target)


def compare_muscles() -> Iterator[Comparison]:
    """The woman by SBS with the 18 muscles of a body, over SBS alone."""
    woman = load_sample("woman")
    cover = sbs.muscles.bind(woman, sbs.muscles.fit(woman))
    matrices = list(random_poses(woman.skeleton, 8, 60, seed=18))
    for attributes in ("p", "pn"):
        arrays = [np.empty_like(woman.skin.rest_positions) for _ in attributes]
        outputs = dict(zip(("out", "out_normals"), arrays, strict=False))
        normals = outputs.get("out_normals")
        deform = deformation(woman.skin, attributes, **outputs)
        apply = partial(cover.apply, arrays[0], normals=normals, threads=1)
        alone, covered = (frame_by_frame(run, matrices) for run in (deform, partial(_in_turn, deform, apply)))
        yield Comparison((with_normals(attributes),), alone, covered, 1.7)


def _in_turn(first: Callable[[Any], object], then: Callable[[Any], object], pose: Any) -> None:
    first(pose)
    then(pose)


CORRECTED = tuple(f"{side}{bone}" for side in ("Left", "Right") for bone in ("Arm", "ForeArm", "UpLeg", "Leg", "Foot"))
DIRECTIONS, CORRECTED_VERTICES = 4, 840


def bend(skeleton: sbs.Skeleton, directions: dict[str, float]) -> NDArray[np.float64]:
    """Skinning matrices (J, 4, 4) of joints that swing by 80 degrees, each in a direction about its bone in degrees."""
    local = np.tile(np.eye(3), (len(skeleton), 1, 1))
    for joint, direction in directions.items():
        across, bone = sbs.poses.axes(skeleton, skeleton.index(joint))
        axis = sbs.rotations.matrices_from_axis_angle(bone, direction, degrees=True) @ across
        local[skeleton.index(joint)] = sbs.rotations.matrices_from_axis_angle(axis, 80.0, degrees=True)
    return skeleton.skinning_matrices(skeleton.forward(local))


def sculpt(character: sbs.Character, skin: Skin, options: Options) -> Correctives:
    """Correctives of all joints in all directions, not solved: vertices near the joint are moved, the nearest most."""
    skeleton, rest = character.skeleton, skin.rest_positions
    made = Correctives(skeleton)
    for joint in CORRECTED:
        distances = np.linalg.norm(rest - skeleton.bind_matrices[skeleton.index(joint)][:3, 3], axis=1)
        nearest = np.argsort(distances)[:CORRECTED_VERTICES]
        share = 1.0 - distances[nearest] / distances[nearest].max()
        for number in range(DIRECTIONS):
            pose = bend(skeleton, {joint: 360.0 * number / DIRECTIONS})
            posed = skin.deform(pose, **options)
            posed[nearest] += (0.01 * share * np.ptp(rest[:, 1]))[:, None] * [0.3, 0.5, 0.8]
            made.add(pose, posed, joints=[joint], vertices=nearest)
    return made


def compare_correctives() -> Iterator[Comparison]:
    """The woman with 40 shapes, in four directions of ten joints, over her without any.

    Each shape moves 840 vertices, as many as a draft of a hinge. Three joints are bent, half way between two of their
    shapes, or none is. Also tells how long solving all shapes takes.
    """
    woman = load_sample("woman")
    twist = sbs.limb_twist(woman)
    amounts = sbs.twist_amounts(woman, twist).astype(np.float32)
    half = {**METHODS["optimized"], "amount": amounts}
    bent = dict.fromkeys(("LeftForeArm", "LeftLeg", "RightLeg"), 180.0 / DIRECTIONS)
    for attributes in ("p", "pn"):
        for name, skin, options in (
            ("LBS", woman.skin, METHODS["LBS"]),
            ("SBS", woman.skin, METHODS["SBS"]),
            ("smooth twist", woman.twisted_skin(twist, optimized=True), half),
        ):
            correctives = sculpt(woman, skin, options)
            begin = time.perf_counter()
            correctives.solve(skin, triangles=woman.mesh.triangles if attributes == "pn" else None, **options)
            click.echo(f"{name}, {with_normals(attributes)}: solved in {time.perf_counter() - begin:.3f} s", err=True)
            for where, joints in (("three joints bent", bent), ("at rest", {})):
                poses = [bend(woman.skeleton, joints)]
                without, within = (
                    deformed_frames(skin, poses, attributes, correctives=each, **options)
                    for each in (None, correctives)
                )
                labels = (f"{name} with correctives / without", f"woman {attributes}", where)
                yield Comparison(labels, without, within, 1.4 if name == "smooth twist" and joints else None)


def compare_gradients(*, each: bool) -> Iterator[Comparison]:
    """`Skin.deform_vjp` over `Skin.deform` of the woman: by all that it differentiates, or `each` of it alone."""
    woman = load_sample("woman")
    mesh = woman.mesh
    assert mesh.normals is not None
    matrices = list(random_poses(woman.skeleton, 8, 60, seed=18))
    upstream = np.random.default_rng(21).normal(size=(2, len(mesh.positions), 3))
    everything = ("rest_positions", "joint_weights", "skinning_matrices")
    wanted = {name: (name,) for name in everything} if each else {"all": everything}
    for scalar in (np.float32, np.float64):
        skin = Skin(
            mesh.positions.astype(scalar),
            mesh.joint_indices,
            mesh.joint_weights,
            rest_normals=mesh.normals.astype(scalar),
            joint_positions=woman.skeleton.joint_positions,
            parents=woman.skeleton.parents,
            centers=woman.optimized_skin().centers,
        )
        grads = upstream.astype(scalar)
        for attributes in ("p", "pn"):
            normals = attributes == "pn"
            given = {"grad_positions": grads[0], "grad_normals": grads[1] if normals else None, "threads": 1}
            for name, options in METHODS.items():
                forth = deformed_frames(skin, matrices, attributes, **options)
                for differentiated, names in wanted.items():
                    more = ("rest_normals",) if normals and "rest_positions" in names else ()
                    differentiate: Callable[..., object] = skin.deform_vjp
                    back = partial(differentiate, wanted=(*names, *more), **given, **options)
                    labels = (scalar.__name__, name, with_normals(attributes), differentiated)
                    yield Comparison(labels, forth, frame_by_frame(back, matrices))


def compare_rcond() -> Iterator[Comparison]:
    """The paper's singular value decomposition, ``rcond=1e-3``, over damping."""
    for character in (load_sample("hand"), arnaud(), load_sample("woman")):
        matrices = list(random_poses(character.skeleton, 8, 40, seed=2003))
        damped, cut = (deformed_frames(character.skin, matrices, "p", **options) for options in ({}, {"rcond": 1e-3}))
        solves = character.skin.pose_report(matrices[0]).solves
        yield Comparison((character.name, f"{character.skin.vertex_count:,} vertices", f"{solves} solves"), damped, cut)


class Feature(NamedTuple):
    """The comparisons of a feature, and the heads of their labels."""

    compare: Callable[[], Iterator[Comparison]]
    heads: tuple[str, ...]
    rounds: int = 60


FEATURES = {
    "bones": Feature(compare_bones, ("character", "mesh", "vertices", "joints", "paper, rendering")),
    "twist": Feature(compare_twists, ("method", "of")),
    "muscles": Feature(compare_muscles, ("of",)),
    "correctives": Feature(compare_correctives, ("method", "of", "pose")),
    "gradient": Feature(partial(compare_gradients, each=False), ("type", "method", "of", "by"), 40),
    "gradient-each": Feature(partial(compare_gradients, each=True), ("type", "method", "of", "by"), 40),
    "rcond": Feature(compare_rcond, ("character", "vertices", "solves")),
}


def show(name: str) -> None:
    """Measure a feature and print its table."""
    rows = []
    feature = FEATURES[name]
    for comparison, base, run in measured(feature, feature.rounds):
        ratio = run / base
        row = Row("", "", "", ratio, comparison.target) if comparison.target else None
        times = [f"{each / 1000:.1f}" for each in (base, run)]
        verdict = f"{row.bound}, {row.verdict}" if row else ""
        rows.append((*comparison.labels, *times, f"{ratio:.2f}", verdict))
    print_table((*feature.heads, "without, us", "with, us", "ratio", "target"), rows, left=len(feature.heads))


def target_rows(name: str, rounds: int) -> list[Row]:
    """The comparisons of a feature that have targets."""
    return [
        Row(comparison.labels[0], ", ".join(comparison.labels[1:]), "", run / base, comparison.target)
        for comparison, base, run in measured(FEATURES[name], rounds)
        if comparison.target
    ]


def measured(feature: Feature, rounds: int) -> Iterator[tuple[Comparison, float, float]]:
    """Each comparison with the least times of its base and of its run; a base that is shared is timed once."""
    found = list(feature.compare())
    runs = {id(run): run for comparison in found for run in (comparison.base, comparison.run)}
    times = dict(zip(runs, (timing.minimum for timing in measure(list(runs.values()), rounds)), strict=True))
    for comparison in found:
        yield comparison, times[id(comparison.base)], times[id(comparison.run)]


def time_centers() -> bool:
    """Print the seconds that optimized centers take on two threads; returns whether the medians meet their target."""
    mesh = load_sample("woman").mesh
    rows, target = [], 2.0
    for name, tolerance in (("the woman", 1e-2), ("the same, nothing merged", 0.0)):
        times = []
        for _ in range(10):
            start = time.perf_counter()
            sbs.optimized_centers(
                mesh.positions, mesh.triangles, mesh.joint_indices, mesh.joint_weights, tolerance=tolerance, threads=2
            )
            times.append(time.perf_counter() - start)
        rows.append(Row(name, f"{min(times[1:]):.3f}", "", statistics.median(times[1:]), target))
    cells = [(row.name, row.where, f"{row.value:.3f}", row.bound, row.verdict) for row in rows]
    print_table(("", "least, s", "median, s", "target", ""), cells, left=1)
    return all(row.excess <= 1 for row in rows)
