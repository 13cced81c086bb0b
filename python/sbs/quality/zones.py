# SPDX-License-Identifier: MIT
"""Zones of bones blending, chosen for each joint by bending it."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from itertools import product

import numpy as np
from numpy.typing import ArrayLike

from .. import _core
from ..characters.poses import flexed
from ..rigging.blending import BlendingProfile, BonesBlending, bones_blending
from ..rigging.skeleton import Skeleton
from ..skinning.reports import WeightWarning
from . import measures
from .surface import Floats, RestSurface, make_surface

__all__ = ["fit_zones"]

SCALES = (1.0, 0.75, 1.5, 2.5)
"""How many times as far from the joint as by default an end is tried. The first is taken unless others are better."""

BENDS = (45.0, 90.0, 120.0)
"""Degrees, from a limb that is stretched."""

LEAST = 0.01
"""Is added to energies before they are compared: with less a surface is as good as not deformed."""


def fit_zones(
    skeleton: Skeleton,
    rest_positions: ArrayLike,
    triangles: ArrayLike,
    *,
    attachment: ArrayLike | None = None,
    t_min: ArrayLike | None = None,
    t_max: ArrayLike | None = None,
    joints: Sequence[str | int] | None = None,
    influences: tuple[ArrayLike, ArrayLike] | None = None,
    tails: ArrayLike | None = None,
    profile: BlendingProfile = "linear",
) -> BonesBlending:
    """Bind a mesh by bones blending, in zones that bend each joint best.

    Both ends of a zone are tried at 0.75, 1, 1.5 and 2.5 times their default distance from the joint, 16 zones in all,
    within the middles of bones. In each the joint is bent by 45, 90 and 120 degrees, as `sbs.poses.flexed` bends it.
    The zone with the least product of two energies is taken: by how much the surface is stretched and squeezed, and by
    how much it is folded; `sbs.quality` measures both. They are of all triangles that are in one of the zones, so that
    a wider zone has to be better where the narrow one leaves the surface alone.

    Parameters
    ----------
    skeleton, rest_positions
        As of `sbs.bones_blending`.
    triangles : (T, 3) array_like of int
    t_min, t_max : float or (J,) array_like, optional
        Ends that stay; NaN is one to be found. By default all are found.
    attachment, joints, influences, tails, profile
        As of `sbs.bones_blending`.

    Returns
    -------
    BonesBlending
        Its `t_min` and `t_max` are the zones, for `sbs.bones_blending`. A joint near which the mesh has no triangles
        has the default.

    Raises
    ------
    ValueError, TypeError, KeyError
        As `sbs.bones_blending`, and if triangles are no (T, 3) indices of vertices.

    Examples
    --------
    >>> import sbs
    >>> hand = sbs.samples.load("hand")
    >>> mesh = hand.mesh
    >>> influences = (mesh.joint_indices, mesh.joint_weights)
    >>> blending = fit_zones(hand.skeleton, mesh.positions, mesh.triangles, influences=influences)
    >>> skin = blending.skin(rest_normals=mesh.normals)
    """
    positions, faces = np.asarray(rest_positions), np.asarray(triangles)
    _core.islands(faces, len(positions))  # refuses wrong triangles

    def bind(t_min: ArrayLike | None, t_max: ArrayLike | None, zone_scale: float = 1.0) -> BonesBlending:
        return bones_blending(
            skeleton,
            positions,
            attachment=attachment,
            t_min=t_min,
            t_max=t_max,
            joints=joints,
            influences=influences,
            tails=tails,
            profile=profile,
            zone_scale=zone_scale,
        )

    scaled = [bind(t_min, t_max, scale) for scale in SCALES]
    tried = [bind(start.t_min, end.t_max) for start, end in product(scaled, scaled)]
    zones = np.array([(each.t_min, each.t_max) for each in tried])
    best = np.zeros(len(skeleton), np.intp)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", WeightWarning)  # the skin of the result tells
        skins = [each.skin() for each in tried]
    for joint in np.flatnonzero(np.isfinite(zones[0, 0])):
        around = np.any([(each.attachment == joint) & (each.t > 0) & (each.t < 1) for each in tried], axis=0)
        near = faces[around[faces].any(axis=1)]
        used, corners = np.unique(near, return_inverse=True)
        try:
            surface = make_surface(positions[used], corners.reshape(-1, 3))
        except ValueError:  # no triangle has an area
            continue
        matrices = skeleton.skinning_matrices(skeleton.forward(flexed(skeleton, int(joint), BENDS)))
        _, first = np.unique(zones[:, :, joint], axis=0, return_index=True)
        different = np.sort(first)
        losses = []
        for skin in (skins[number] for number in different):
            frames = skin.deform_many(matrices, **tried[0].options)[:, used[surface.kept]]
            losses.append(_loss(surface, frames.astype(np.float64)))
        best[joint] = different[np.argmin(losses)]
    every = np.arange(len(skeleton))
    return bind(zones[best, 0, every], zones[best, 1, every])


def _loss(surface: RestSurface, frames: Floats) -> float:
    """How much poses (F, W, 3) strain and fold a surface: the mean logarithm of both energies."""
    strained = [np.average(measures.surface_energies(surface, points), weights=surface.areas) for points in frames]
    folded = [measures.bending_energy(surface, points) for points in frames]
    return float(np.log(np.array([strained, folded]) + LEAST).mean())
