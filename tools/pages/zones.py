# SPDX-License-Identifier: MIT
"""The tables of docs/bones_blending.md: a tube, and the woman's elbow and knee, bent by bones blending.

Curvature is the largest angle between neighbors at the joint, in degrees; strain the root of the mean square of how
much longer or shorter edges there become, in percent. All zones are measured on the same triangles.

Of characters, zones that `sbs.quality.fit_zones` chose are compared with the default ones at all joints, in poses that
they were not chosen by.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import click
import numpy as np
from numpy.typing import ArrayLike, NDArray

import sbs
from sbs import mesh as meshes
from sbs import poses
from sbs.quality import fit_zones, measures
from sbs.quality.surface import RestSurface, make_surface
from sbs.rigging.blending import BlendingProfile
from sbs.samples import load as load_sample
from sbs.support.quantiles import weighted_quantiles

from .exchange import folders, read_character
from .scenes import straight_joints, tube_surface
from .tables import table

ZONES: tuple[tuple[BlendingProfile, float], ...] = (
    ("linear", 1.0),
    ("linear", 1.5),
    ("smoothstep", 1.0),
    ("smoothstep", 1.5),
)
BENDS = 60.0, 90.0, 120.0
LEVELS = 3
PROFILES: tuple[BlendingProfile, ...] = ("linear", "smoothstep")
SCALES = 1.25, 1.5
"""Of all joints alike, compared with zones that are fitted."""

AROUND = 2.0
"""How far around her knee curvature is measured; the woman is 16.7 tall."""

FEWEST = 8
"""Joints with fewer vertices in their zones are not measured."""

LEAST = 0.01
"""Is added to all measures before they are compared, so that next to nothing compared with less is not much."""

Floats = NDArray[np.float64]
Triangles = NDArray[np.int32]


@dataclass(frozen=True, eq=False)
class Limb:
    """A mesh with a joint that bends."""

    name: str
    skeleton: sbs.Skeleton
    joint: int
    positions: Floats  # (V, 3)
    triangles: Triangles
    influences: tuple[NDArray[np.int32], NDArray[np.floating]] | None = None  # joints and weights, (V, K) each

    def blending(self, profile: BlendingProfile = "linear", zone_scale: float = 1.0) -> sbs.BonesBlending:
        return sbs.bones_blending(
            self.skeleton, self.positions, influences=self.influences, profile=profile, zone_scale=zone_scale
        )

    def measured(self, profile: BlendingProfile, zone_scale: float) -> tuple[Floats, Floats]:
        """Curvature and strain over `BENDS`."""
        blending = self.blending(profile, zone_scale)
        local = poses.flexed(self.skeleton, self.joint, BENDS)
        matrices = self.skeleton.skinning_matrices(self.skeleton.forward(local))
        frames = blending.skin().deform_many(matrices, **blending.options)
        around = self.blending(zone_scale=max(scale for _, scale in ZONES))
        near = meshes.connected_triangles(self.triangles, around.attachment, self.joint)
        angles = meshes.curvature(frames, self.triangles, rest_positions=self.positions)[:, near].max(axis=1)
        edges = self.triangles[near][:, [[0, 1], [1, 2], [2, 0]]].reshape(-1, 2)
        lengths = [np.linalg.norm(np.diff(points[edges], axis=1)[:, 0], axis=1) for points in (self.positions, *frames)]
        strain = np.array([np.sqrt(np.square(posed / lengths[0] - 1).mean()) for posed in lengths[1:]])
        return np.degrees(angles), 100 * strain


def limbs() -> Iterator[Limb]:
    """A tube of radius 1 along x, whose rings are 0.4 apart, or half as far with each level; an elbow and a knee."""
    skeleton = sbs.Skeleton([-1, 0, 1], straight_joints(np.array([-8.0, 0.0, 8.0])))
    for level in range(LEVELS):
        surface = tube_surface(np.linspace(-8, 8, 40 * 2**level + 1), 1.0, 24 * 2**level)
        yield Limb(f"tube, {4**level} times as many triangles" if level else "tube", skeleton, 1, *surface)
    woman = load_sample("woman")
    mesh = woman.mesh
    surface, influences = (mesh.positions.astype(np.float64), mesh.triangles), (mesh.joint_indices, mesh.joint_weights)
    for name, joint in (("woman, elbow", "LeftForeArm"), ("woman, knee", "LeftLeg")):
        yield Limb(name, woman.skeleton, woman.skeleton.index(joint), *surface, influences)


def zones_table() -> str:
    """Curvature and strain of limbs in each of `ZONES`."""
    rows = []
    for limb in limbs():
        for number, (profile, zone_scale) in enumerate(ZONES):
            curvature, strain = limb.measured(profile, zone_scale)
            numbers = [*(f"{value:.0f}" for value in curvature), *(f"{value:.1f}" for value in strain)]
            rows.append(["" if number else limb.name, profile, f"{zone_scale:g}", *numbers])
    bends = [f"at {bend:g}°" for bend in BENDS]
    heads = [
        f"{measure} {bends[0]}" if bend == bends[0] else bend for measure in ("curvature", "strain") for bend in bends
    ]
    return table(["", "profile", "zones", *heads], rows, left=2)


def divided_table() -> str:
    """Subdivision of all triangles that are connected to the knee or to its parent, and where a bend needs it."""
    woman = load_sample("woman")
    skeleton, knee = woman.skeleton, woman.skeleton.index("LeftLeg")
    matrices = skeleton.skinning_matrices(skeleton.forward(poses.flexed(skeleton, knee, BENDS)))

    def deform(character: sbs.Character, profile: BlendingProfile = "smoothstep") -> Floats:
        mesh = character.mesh
        blending = sbs.bones_blending(
            skeleton,
            mesh.positions,
            joints=[knee],
            influences=(mesh.joint_indices, mesh.joint_weights),
            profile=profile,
            zone_scale=1.5,
        )
        return np.asarray(blending.skin().deform_many(matrices, **blending.options))

    near = [knee, int(skeleton.parents[knee])]
    made = {
        "original": woman,
        "near the joint, once": meshes.subdivide_near_joints(woman, near),
        "twice": meshes.subdivide_near_joints(woman, near, levels=2),
        "where a bend needs it, once": meshes.subdivide_bent(woman, deform, levels=1),
        "up to twice": meshes.subdivide_bent(woman, deform),
        "up to three times": meshes.subdivide_bent(woman, deform, levels=3),
        "with a linear profile: original": woman,
        "with a linear profile: up to twice": meshes.subdivide_bent(woman, partial(deform, profile="linear")),
    }
    rows = []
    for name, character in made.items():
        mesh = character.mesh
        frames = deform(character, "linear" if name.startswith("with a linear") else "smoothstep")
        angles = meshes.curvature(frames, mesh.triangles, rest_positions=mesh.positions)
        moved = np.linalg.norm(mesh.positions - skeleton.joint_positions[knee], axis=1) < AROUND
        largest = np.degrees(angles[:, moved[mesh.triangles].all(axis=1)].max(axis=1))
        new = len(mesh.triangles) - len(woman.mesh.triangles)
        rows.append([name, f"{new:,}", *(f"{angle:.0f}" for angle in largest)])
    return table(["divided", "new triangles", "curvature at 60°", "at 90°", "at 120°"], rows)


def other_poses(skeleton: sbs.Skeleton, joint: int) -> Floats:
    """Poses (N, J, 4, 4) that no zone was chosen by: bent by 60 and 105 degrees, to both sides, and twisted."""
    bend, twist = poses.axes(skeleton, joint)
    aside = np.cross(bend, twist)
    turns = (bend, 60), (bend, 105), (aside, 60), (aside, -60), (twist, 90)
    local = np.stack([poses.turned(skeleton, joint, axis, degrees) for axis, degrees in turns])
    return np.asarray(skeleton.skinning_matrices(skeleton.forward(local)))


class Part:
    """Some triangles of a mesh at rest."""

    def __init__(self, positions: Floats, triangles: Triangles, chosen: ArrayLike) -> None:
        used, corners = np.unique(triangles[np.asarray(chosen)], return_inverse=True)
        self.surface: RestSurface = make_surface(positions[used], corners.reshape(-1, 3))
        self.kept = used[self.surface.kept]

    def measured(self, deformed: NDArray[np.floating]) -> Floats:
        """Strain, surface energy, the tear that 1 % of the surface has or exceeds, and bending energy of a pose."""
        surface, points = self.surface, np.asarray(deformed, np.float64)[self.kept]
        stretch = measures.edge_ratios(surface, points) - 1
        (torn,) = weighted_quantiles(measures.tears(surface, points), measures.pair_areas(surface), (measures.HIGH,))
        strain = np.sqrt(np.average(np.square(stretch), weights=surface.edge_lengths))
        energy = np.average(measures.surface_energies(surface, points), weights=surface.areas)
        return np.array([strain, energy, torn, measures.bending_energy(surface, points)])


def compared(folder: Path) -> Floats:
    """The measures in other zones, relative to default zones: (zones, joints, poses, measures)."""
    character = read_character(folder, ())
    mesh, skeleton = character.mesh, character.skeleton
    rest = mesh.positions.astype(np.float64)
    influences = mesh.joint_indices, mesh.joint_weights
    fitted = (fit_zones(skeleton, rest, mesh.triangles, influences=influences, profile=name) for name in PROFILES)
    scaled = (sbs.bones_blending(skeleton, rest, influences=influences, zone_scale=scale) for scale in (1.0, *SCALES))
    default, *others = scaled
    every = [default, *fitted, *others]
    ratios = []
    for joint in np.flatnonzero(np.isfinite(default.t_min)):
        between = np.any([(each.attachment == joint) & (each.t > 0) & (each.t < 1) for each in every], axis=0)
        if between.sum() < FEWEST:
            continue
        part = Part(rest, mesh.triangles, between[mesh.triangles].any(axis=1))
        matrices = other_poses(skeleton, int(joint))
        frames = (each.skin().deform_many(matrices, **each.options) for each in every)
        old, *new = (np.array([part.measured(points) for points in each]) + LEAST for each in frames)
        ratios.append(np.array(new) / old)
    return np.swapaxes(ratios, 0, 1)


def compared_table(characters: Path) -> str:
    """Geometric means over joints and poses; of the worst joint the mean of all."""
    found = {folder.name: compared(folder) for folder in folders(characters)}
    named = {name: ratios[0] for name, ratios in found.items()}
    names = *(f"fitted, {profile}" for profile in PROFILES), *(f"linear, {scale:g}" for scale in SCALES)
    for name, ratios in zip(names, np.concatenate([*found.values()], axis=1), strict=True):
        named[f"all: {name}"] = ratios
    rows = []
    for name, ratios in named.items():
        logs = np.log(ratios)
        means = np.exp([*logs.mean(axis=(0, 1)), logs.mean(axis=(1, 2)).max()])
        rows.append([name, str(len(ratios)), *(f"{value:.2f}" for value in means)])
    return table(["", "joints", "strain", "surface energy", "tears", "bending", "at worst"], rows)


def write(characters: Path | None = None) -> None:
    """Print the tables; that of fitted zones needs characters."""
    click.echo(f"{zones_table()}\n\n{divided_table()}")
    if characters is not None:
        click.echo(f"\n{compared_table(characters)}")
