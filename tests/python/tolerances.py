# SPDX-License-Identifier: MIT
"""How far from the truth a result may be, and why.

Positions are compared component by component. A bound is a share of the size of the mesh (the diagonal of the box
around its rest positions) and, for the rounding of the result itself, half a unit in the last place of the output.
"""

import numpy as np
from reference import IS_EXTENDED

# Shares of the size. In double, a vertex about a center loses a few eps of 2e-16 times the distance of that center,
# which is computed by differences where it is more than two sizes. Where the reference is double as well, it loses as
# much again.
DOUBLE = 1e-12 if IS_EXTENDED else 2e-12
# In float32 (eps 1.2e-7) the deformed vertex is a sum of products of the size of the mesh: one to two roundings remain.
SINGLE = 2e-7
# Spherical blend skinning sums up vectors as long as the center is far away, twice the size.
SINGLE_SPHERICAL = 1e-6

# Components of unit normals: as above, with some ten operations in a row, the division by the length among them.
NORMALS = {np.dtype(np.float64): 1e-12, np.dtype(np.float32): 1e-6}
# Joints of real characters do not turn so far apart that blended normals get short, of which a division makes more of
# their error. In float32, 1.5e-7 is then lost of the length and at most 3.5e-7 of the direction, by roundings of 6e-8.
CHARACTER_NORMALS = {np.dtype(np.float64): 1e-12, np.dtype(np.float32): 4e-7}

# What a rotation center at some distance may cost beyond the shares of the size, where options let it get further away
# than the default damping does (eight eps of double: it is prepared in double).
CENTER = 2e-15

# Below this |(q_p, q_i)| a rounding error decides which of two opposite quaternions is blended.
SIGN_MARGIN = 1e-6


def share(dtype: np.typing.DTypeLike, method: str) -> float:
    """Return the share of the size that positions may be off."""
    if np.dtype(dtype) == np.float64:
        return DOUBLE
    return SINGLE_SPHERICAL if method == "spherical" else SINGLE


def half_ulp(values: np.ndarray, dtype: np.typing.DTypeLike) -> np.ndarray:
    """Half a unit in the last place that `values` have in `dtype`: what rounding to it costs."""
    return np.spacing(np.abs(values).astype(dtype)).astype(np.float64) / 2
