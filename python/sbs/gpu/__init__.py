# SPDX-License-Identifier: MIT
"""Thousands of poses on a graphics processor, by a compute shader (extra ``gpu``: wgpu).

It needs a driver for Vulkan, Metal or Direct3D 12. Mesa's lavapipe (Debian: ``mesa-vulkan-drivers``) is one that runs
on the processor, for tests. Results are float32; those of `sbs.Skin` in float64 are within 6e-7 of the mesh's size.
"""

from .deformer import Deformer, DeviceFrames

__all__ = ["Deformer", "DeviceFrames"]


def __dir__() -> list[str]:
    return sorted(__all__)
