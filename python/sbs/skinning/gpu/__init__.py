# SPDX-License-Identifier: MIT
"""`sbs.gpu`: thousands of poses on a graphics processor."""

from .deformer import Deformer, DeviceFrames

__all__ = ["Deformer", "DeviceFrames"]


def __dir__() -> list[str]:
    return sorted(__all__)
