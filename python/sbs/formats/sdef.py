# SPDX-License-Identifier: MIT
"""Spherical deformation as MikuMikuDance computes it, beside eq. (9) of Kavan and Zara 2005."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from ..rigging.rig import Floats
from .pmx import Model

__all__ = ["correction"]


def correction(model: Model, skinning_matrices: ArrayLike) -> Floats:
    """The two corrections by R0 and R1 that MikuMikuDance adds to eq. (9) about the centers C.

    With A0 and A1 for the rotations of the two bones, it is w0 w1 (A0 - A1) (R0 - R1) / 2, which is equal to
    w0 A0 (R0 - Rw) / 2 + w1 A1 (R1 - Rw) / 2 with Rw = w0 R0 + w1 R1.

    Parameters
    ----------
    model : Model
        Of `sbs.formats.pmx.parse`.
    skinning_matrices : (J, 4, 4) array_like

    Returns
    -------
    (V, 3) ndarray
        To be added to ``character.skin.deform(matrices, **character.options)``; zero but for SDEF vertices.
    """
    matrices = np.asarray(skinning_matrices, dtype=np.float64)
    if matrices.shape != (len(model.parents), 4, 4):
        raise ValueError(f"skinning_matrices has shape {matrices.shape}, expected ({len(model.parents)}, 4, 4)")
    added = np.zeros_like(model.positions)
    first, second = model.joint_indices[model.sdef, :2].T
    product = model.joint_weights[model.sdef, 0] * model.joint_weights[model.sdef, 1]
    apart = matrices[first, :3, :3] - matrices[second, :3, :3]
    between = model.sdef_points[:, 1] - model.sdef_points[:, 2]
    added[model.sdef] = 0.5 * product[:, None] * (apart @ between[..., None])[..., 0]
    return added
