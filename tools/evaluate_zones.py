# SPDX-License-Identifier: MIT
"""Bend a tube, and the woman's elbow and knee, by bones blending: the table of docs/bones_blending.md.

    python tools/evaluate_zones.py

Curvature is the largest angle between neighbors at the joint, in degrees; strain the root of the mean square of how
much longer or shorter edges there become, in percent.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import click
import numpy as np
from numpy.typing import NDArray

import sbs
from sbs import mesh as meshes
from sbs import poses
from sbs.rigging.blending import BlendingProfile
from sbs.samples import load as load_sample

ZONES: tuple[tuple[BlendingProfile, float], ...] = (
    ("linear", 1.0),
    ("linear", 1.5),
    ("smoothstep", 1.0),
    ("smoothstep", 1.5),
)
BENDS = 60.0, 90.0, 120.0
LEVELS = 3

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
        near = meshes.connected_triangles(self.triangles, blending.attachment, self.joint)
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


@click.command(help=__doc__)
def main() -> None:
    """Print the table."""
    first, *others = (f"at {bend:g}°" for bend in BENDS)
    columns = ["", "profile", "zones", f"curvature {first}", *others, f"strain {first}", *others]
    click.echo(f"| {' | '.join(columns)} |")
    click.echo("|---|---|" + "---:|" * (len(columns) - 2))
    for limb in limbs():
        for number, (profile, zone_scale) in enumerate(ZONES):
            curvature, strain = limb.measured(profile, zone_scale)
            numbers = [*(f"{value:.0f}" for value in curvature), *(f"{value:.1f}" for value in strain)]
            click.echo(f"|{'' if number else f' {limb.name}'} | {profile} | {zone_scale:g} | {' | '.join(numbers)} |")


if __name__ == "__main__":
    main()
