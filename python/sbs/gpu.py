# SPDX-License-Identifier: MIT
"""Thousands of poses on a graphics processor, by a compute shader (extra ``gpu``: wgpu).

It needs a driver for Vulkan, Metal or Direct3D 12. Mesa's lavapipe (Debian: ``mesa-vulkan-drivers``) is one that runs
on the processor, for tests. Results are float32; those of `sbs.Skin` in float64 are within 6e-7 of the mesh's size.
"""

from .skinning.gpu import *  # noqa: F403
from .skinning.gpu import __all__ as __all__
