# SPDX-License-Identifier: MIT
"""The compute shader: `engines/wgsl` of the sources, and what its buffers hold."""

from __future__ import annotations

from pathlib import Path

import numpy as np

__all__ = ["CENTERS", "INFLUENCE", "VERTEX", "shader_source"]

CENTERS = {"joint_set": 1, "optimized": 2, "weighted": 3}
"""The numbers that the shader has for centers; 0 is linear blending."""

VERTEX = np.dtype(
    [
        ("position", "<f4", 3),
        ("joint_set", "<u4"),
        ("normal", "<f4", 3),
        ("amount", "<f4"),
        ("center", "<f4", 3),
        ("padding", "<f4"),
    ]
)
"""The shader's ``struct Vertex``."""

INFLUENCE = np.dtype([("joint", "<u4"), ("weight", "<f4")])
"""The shader's ``struct Influence``."""


def shader_source() -> str:
    """The module in WGSL: its files are beside this one in an installed package, in `engines/wgsl` in a checkout."""
    here = Path(__file__).resolve().parent
    folder = here if (here / "skin.wgsl").exists() else here.parents[2] / "engines" / "wgsl"
    return "\n".join((folder / name).read_text(encoding="utf-8") for name in ("spherical.wgsl", "skin.wgsl"))
