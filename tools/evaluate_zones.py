# SPDX-License-Identifier: MIT
"""Bend a tube, and the woman's elbow and knee, by bones blending: the tables of docs/bones_blending.md.

    python tools/evaluate_zones.py [CHARACTERS]

Curvature is the largest angle between neighbors at the joint, in degrees; strain the root of the mean square of how
much longer or shorter edges there become, in percent. All zones are measured on the same triangles.

CHARACTERS is the folder of make_test_data.py. With it, zones that `sbs.quality.fit_zones` chose are compared with the
default ones at all joints, in poses that they were not chosen by.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import click
import numpy as np
from numpy.typing import NDArray

import sbs
from characters_to_glb import read_character
from sbs import mesh as meshes
from sbs import poses
from sbs.characters.character import Character
from sbs.quality import fit_zones, measures
from sbs.quality.surface import RestSurface, make_surface
from sbs.rigging.blending import BlendingProfile
from sbs.samples import load as load_sample
from sbs.weights import bone_segments

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

CHAINS = (
    ("tube", 30.0),
    ("tube", 60.0),
    ("hand_webxr index-finger 5", 45.0),
    ("hand_webxr index-finger 5", 75.0),
    ("wolf_quaternius Tail 8", 20.0),
    ("wolf_quaternius Tail 8", 40.0),
    ("rat_quaternius Tail 7", 20.0),
    ("rat_quaternius Tail 7", 40.0),
)
"""Of characters the folder, how the names of the joints begin, and their number; and by how much each bends."""

WIDEST = 100.0
"""Zones of this scale go from the middle of a bone to that of the next."""

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
    """A mesh with a joint that bends.

    Attributes
    ----------
    name : str
    skeleton : Skeleton
    joint : int
    positions : (V, 3) ndarray
    triangles : (T, 3) ndarray
    influences : tuple of (V, K) ndarray, or None
    """

    name: str
    skeleton: sbs.Skeleton
    joint: int
    positions: Floats
    triangles: Triangles
    influences: tuple[NDArray[np.int32], Floats] | None = None

    def measured(self, profile: BlendingProfile, zone_scale: float) -> tuple[Floats, Floats]:
        """Curvature and strain over `BENDS`."""
        blending = sbs.bones_blending(
            self.skeleton, self.positions, influences=self.influences, profile=profile, zone_scale=zone_scale
        )
        local = poses.flexed(self.skeleton, self.joint, BENDS)
        matrices = self.skeleton.skinning_matrices(self.skeleton.forward(local))
        frames = blending.skin().deform_many(matrices, **blending.options)
        widest = max(scale for _, scale in ZONES)
        around = sbs.bones_blending(self.skeleton, self.positions, influences=self.influences, zone_scale=widest)
        near = meshes.connected_triangles(self.triangles, around.attachment, self.joint)
        angles = meshes.curvature(frames, self.triangles, rest_positions=self.positions)[:, near].max(axis=1)
        edges = self.triangles[near][:, [[0, 1], [1, 2], [2, 0]]].reshape(-1, 2)
        lengths = [np.linalg.norm(np.diff(points[edges], axis=1)[:, 0], axis=1) for points in (self.positions, *frames)]
        strain = np.array([np.sqrt(np.square(posed / lengths[0] - 1).mean()) for posed in lengths[1:]])
        return np.degrees(angles), 100 * strain


def tube(level: int) -> Limb:
    """A tube of radius 1 along x, open at both ends, whose rings are 0.4 apart, or half as far with each level."""
    rings, sides = 40 * 2**level + 1, 24 * 2**level
    along, angle = np.meshgrid(np.linspace(-8, 8, rings), np.arange(sides) * 2 * np.pi / sides, indexing="ij")
    positions = np.stack([along, np.cos(angle), np.sin(angle)], axis=-1).reshape(-1, 3)
    ring, side = np.meshgrid(np.arange(rings - 1) * sides, np.arange(sides), indexing="ij")
    a, b = ring + side, ring + (side + 1) % sides
    triangles = np.stack([[a, b, b + sides], [a, b + sides, a + sides]]).transpose(2, 3, 0, 1).reshape(-1, 3)
    bind = np.tile(np.eye(4), (3, 1, 1))
    bind[:, 0, 3] = -8, 0, 8
    name = "tube" if not level else f"tube, {4**level} times as many triangles"
    return Limb(name, sbs.Skeleton([-1, 0, 1], bind), 1, positions, triangles.astype(np.int32))


def limbs() -> Iterator[Limb]:
    yield from map(tube, range(LEVELS))
    woman = load_sample("woman")
    mesh = woman.mesh
    for name, joint in (("woman, elbow", "LeftForeArm"), ("woman, knee", "LeftLeg")):
        yield Limb(
            name,
            woman.skeleton,
            woman.skeleton.index(joint),
            mesh.positions.astype(np.float64),
            mesh.triangles,
            (mesh.joint_indices, mesh.joint_weights.astype(np.float64)),
        )


def spline(skeleton: sbs.Skeleton, positions: Floats, blending: sbs.BonesBlending, chain: list[int]) -> sbs.Skin:
    """A quadratic B-spline of the rotations of three joints, with its knots at joints, about points on the bones.

    Parameters
    ----------
    blending : BonesBlending
        Linear, in zones from middle to middle of bones.
    """
    parents = np.asarray(skeleton.parents)
    child = np.full(len(parents), -1)
    child[parents[chain]] = chain
    own = blending.attachment
    before = blending.t < 0.5
    middle = np.where(before, parents[own], own)
    joints = np.stack([np.append(parents, -1)[middle], middle, np.where(before, own, child[own])], axis=1)
    place = np.where(before, blending.t + 0.5, blending.t - 0.5)
    weights = np.stack([np.square(1 - place) / 2, 0.5 + place - np.square(place), np.square(place) / 2], axis=1)
    is_chained = np.isin(own, chain)
    joints[~is_chained], weights[~is_chained] = np.stack([own, own, own], axis=1)[~is_chained], (0, 1, 0)
    absent = (joints < 0) | (weights == 0)
    weights[:, 1] += np.where(absent, weights, 0)[:, [0, 2]].sum(axis=1)
    joints[absent], weights[absent] = 0, 0
    heads, tails = bone_segments(skeleton)
    axes = (tails - heads) / np.linalg.norm(tails - heads, axis=1, keepdims=True)

    def along(bones: NDArray[np.integer]) -> Floats:
        return np.asarray(np.einsum("vx,vx->v", positions - heads[bones], axes[bones]))

    bones = np.where((along(own) < 0) & (parents[own] >= 0), parents[own], own)
    centers = heads[bones] + along(bones)[:, None] * axes[bones]
    return sbs.Skin(
        positions, joints, weights, parents=parents, joint_positions=skeleton.joint_positions, centers=centers
    )


def print_chains(characters: Path) -> None:
    """Chains whose joints all bend: smoothstep, and the spline, divided by linear; zones are as wide as can be."""
    click.echo("\n| chain | bends | | strain | surface energy | tears | bending |\n|---|---|---|" + "---:|" * 4)
    for name, degrees in CHAINS:
        skeleton, positions, triangles, influences, chain = chain_of(characters, name)
        smooth, linear = (
            sbs.bones_blending(skeleton, positions, influences=influences, profile=profile, zone_scale=WIDEST)
            for profile in ("smoothstep", "linear")
        )
        posed = chain[2:-1] if influences is None else chain[1:-1]
        made = {
            "linear": linear.skin(),
            "smoothstep": smooth.skin(),
            "spline": spline(skeleton, positions, linear, chain),
        }
        near = np.isin(linear.attachment, posed)[triangles].all(axis=1)
        used, corners = np.unique(triangles[near], return_inverse=True)
        surface = make_surface(positions[used], corners.reshape(-1, 3))
        local = np.tile(np.eye(3), (len(skeleton), 1, 1))
        for joint in posed:
            local[joint] = poses.turned(skeleton, joint, poses.axes(skeleton, joint)[0], degrees)[joint]
        matrices = skeleton.skinning_matrices(skeleton.forward(local))
        found = {
            key: np.array(measured(surface, skin.deform(matrices, **linear.options)[used[surface.kept]]))
            for key, skin in made.items()
        }
        for key in ("smoothstep", "spline"):
            numbers = " | ".join(f"{value:.2f}" for value in found[key] / found["linear"])
            click.echo(f"| {name} | {degrees:g}° | {key} | {numbers} |")


def chain_of(characters: Path, name: str) -> tuple[Any, ...]:
    """Skeleton, positions, triangles, influences and the joints of a chain."""
    if name == "tube":
        limb = tube(1)
        bind = np.tile(np.eye(4), (9, 1, 1))
        bind[:, 0, 3] = np.arange(-8, 10, 2)
        return sbs.Skeleton(np.arange(9) - 1, bind), limb.positions, limb.triangles, None, list(range(1, 8))
    folder, prefix, count = name.split()
    character = read_character(characters / folder, ())
    skeleton, mesh = character.skeleton, character.mesh
    joints = [joint for joint, found in enumerate(skeleton.names) if found.startswith(prefix)]
    chain = sorted(joints, key=lambda joint: len(poses.descendants(skeleton, joint)), reverse=True)[: int(count)]
    influences = mesh.joint_indices, mesh.joint_weights
    return skeleton, mesh.positions.astype(np.float64), mesh.triangles, influences, chain


def print_divided() -> None:
    """Subdivision of all triangles that are connected to the knee or to its parent, and of what a bend needs."""
    woman = load_sample("woman")
    skeleton, knee = woman.skeleton, woman.skeleton.index("LeftLeg")
    matrices = skeleton.skinning_matrices(skeleton.forward(poses.flexed(skeleton, knee, BENDS)))

    def deform(character: Character, profile: BlendingProfile = "smoothstep") -> Floats:
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
    click.echo("\n| divided | new triangles | curvature at 60° | at 90° | at 120° |\n|---|---:|---:|---:|---:|")
    for name, character in made.items():
        mesh = character.mesh
        frames = deform(character, "linear" if name.startswith("with a linear") else "smoothstep")
        angles = meshes.curvature(frames, mesh.triangles, rest_positions=mesh.positions)
        moved = np.linalg.norm(mesh.positions - skeleton.joint_positions[knee], axis=1) < AROUND
        largest = np.degrees(angles[:, moved[mesh.triangles].all(axis=1)].max(axis=1))
        new = len(mesh.triangles) - len(woman.mesh.triangles)
        click.echo(f"| {name} | {new:,} | {' | '.join(f'{angle:.0f}' for angle in largest)} |")


def other_poses(skeleton: sbs.Skeleton, joint: int) -> Floats:
    """Poses (N, J, 4, 4) that no zone was chosen by: bent by 60 and 105 degrees, to both sides, and twisted."""
    bend, twist = poses.axes(skeleton, joint)
    aside = np.cross(bend, twist)
    turns = (bend, 60), (bend, 105), (aside, 60), (aside, -60), (twist, 90)
    local = np.stack([poses.turned(skeleton, joint, axis, degrees) for axis, degrees in turns])
    return np.asarray(skeleton.skinning_matrices(skeleton.forward(local)))


def measured(surface: RestSurface, points: Floats) -> tuple[float, ...]:
    """Strain, surface energy, what 1 % of the surface is torn by or more, and bending energy of a pose."""
    stretch = measures.edge_ratios(surface, points) - 1
    (torn,) = measures.weighted_quantiles(
        measures.tears(surface, points), measures.pair_areas(surface), (measures.HIGH,)
    )
    return (
        float(np.sqrt(np.average(np.square(stretch), weights=surface.edge_lengths))),
        float(np.average(measures.surface_energies(surface, points), weights=surface.areas)),
        float(torn),
        measures.bending_energy(surface, points),
    )


def compared(folder: Path) -> Floats:
    """The measures in other zones, divided by those in default ones: (zones, joints, poses, measures)."""
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
        used, corners = np.unique(mesh.triangles[between[mesh.triangles].any(axis=1)], return_inverse=True)
        surface = make_surface(rest[used], corners.reshape(-1, 3))
        matrices = other_poses(skeleton, int(joint))
        frames = (each.skin().deform_many(matrices, **each.options)[:, used[surface.kept]] for each in every)
        old, *new = (np.array([measured(surface, points) for points in each]) + LEAST for each in frames)
        ratios.append(np.array(new) / old)
    return np.swapaxes(ratios, 0, 1)


def print_compared(characters: Path) -> None:
    click.echo("\n| | joints | strain | surface energy | tears | bending | at worst |\n|---|" + "---:|" * 6)
    found = {folder.parent.name: compared(folder.parent) for folder in sorted(characters.glob("*/rig.txt"))}
    for name, ratios in found.items():
        print_ratios(name, ratios[0])
    names = *(f"fitted, {profile}" for profile in PROFILES), *(f"linear, {scale:g}" for scale in SCALES)
    for name, ratios in zip(names, np.concatenate([*found.values()], axis=1), strict=True):
        print_ratios(f"all: {name}", ratios)


def print_ratios(name: str, ratios: Floats) -> None:
    """Geometric means over joints and poses; of the worst joint the mean of all."""
    logs = np.log(ratios)
    means = [*logs.mean(axis=(0, 1)), logs.mean(axis=(1, 2)).max()]
    click.echo(f"| {name} | {len(ratios)} | {' | '.join(f'{value:.2f}' for value in np.exp(means))} |")


@click.command(help=__doc__)
@click.argument("characters", required=False, type=click.Path(exists=True, file_okay=False, path_type=Path))
def main(characters: Path | None) -> None:
    """Print the tables."""
    first, *others = (f"at {bend:g}°" for bend in BENDS)
    columns = ["", "profile", "zones", f"curvature {first}", *others, f"strain {first}", *others]
    click.echo(f"| {' | '.join(columns)} |")
    click.echo("|---|---|" + "---:|" * (len(columns) - 2))
    for limb in limbs():
        for number, (profile, zone_scale) in enumerate(ZONES):
            curvature, strain = limb.measured(profile, zone_scale)
            numbers = [*(f"{value:.0f}" for value in curvature), *(f"{value:.1f}" for value in strain)]
            click.echo(f"|{'' if number else f' {limb.name}'} | {profile} | {zone_scale:g} | {' | '.join(numbers)} |")
    print_divided()
    if characters is not None:
        print_chains(characters)
        print_compared(characters)


if __name__ == "__main__":
    main()
