# SPDX-License-Identifier: MIT
"""Deformation as a function that PyTorch differentiates (extra ``torch``): to learn shapes, weights and poses.

All work is done by the C library on the processor: tensors on another device are copied there and back. Gradients are
those of `Skin.deform_vjp`, of first order.
"""

from .skinning.torch import *  # noqa: F403
from .skinning.torch import __all__ as __all__
