# SPDX-License-Identifier: MIT
"""Path-traced pictures of a surface. They need only the processor, no display and no OpenGL."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .camera import FIELD_OF_VIEW, Camera
from .extra import load_mitsuba
from .surface import ShadedMesh

BOUNCES = 4
ROUGHNESS = 0.5


def render(surface: ShadedMesh, camera: Camera, size: tuple[int, int], *, samples: int = 64) -> NDArray[np.uint8]:
    """Take a picture of a surface in a bright room, on white: sRGB (height, width, 3).

    The lights move with the camera. Size is width and height in pixels; time is proportional to the samples, light
    paths per pixel, and noise to their inverse square root.
    """
    mi = load_mitsuba()
    scene = {
        "type": "scene",
        "integrator": {"type": "path", "max_depth": BOUNCES, "hide_emitters": True},
        "sensor": sensor(mi, camera, size, samples),
        "surface": mesh(mi, surface),
        **lights(mi, camera),
    }
    pixels = np.array(mi.render(mi.load_dict(scene), spp=samples))
    coverage = np.clip(pixels[..., 3:], 0, 1)
    return srgb(pixels[..., :3] + (1 - coverage))


def sensor(mi: Any, camera: Camera, size: tuple[int, int], samples: int) -> dict[str, Any]:
    return {
        "type": "perspective",
        "fov": FIELD_OF_VIEW,
        "fov_axis": "x",
        "near_clip": camera.width * 1e-2,
        "far_clip": camera.width * 1e3,
        "to_world": look_at(mi, camera.position, np.asarray(camera.target, float), camera.axes[1]),
        "film": {
            "type": "hdrfilm",
            "width": size[0],
            "height": size[1],
            "pixel_format": "rgba",
            "rfilter": {"type": "gaussian", "stddev": 0.45},
        },
        "sampler": {"type": "multijitter", "sample_count": samples},
    }


def mesh(mi: Any, surface: ShadedMesh) -> Any:
    clay = {
        "type": "principled",
        "base_color": {"type": "mesh_attribute", "name": "vertex_color"},
        "roughness": ROUGHNESS,
        "specular": 0.4,
    }
    properties = mi.Properties()
    properties["bsdf"] = mi.load_dict({"type": "twosided", "clay": clay})
    result = mi.Mesh(
        "surface", len(surface.positions), len(surface.triangles), has_vertex_normals=True, props=properties
    )
    result.add_attribute("vertex_color", 3, surface.colors.ravel())
    buffers = mi.traverse(result)
    buffers["vertex_positions"] = surface.positions.ravel()
    buffers["vertex_normals"] = surface.normals.ravel()
    buffers["faces"] = surface.triangles.astype(np.uint32).ravel()
    buffers.update()
    return result


def lights(mi: Any, camera: Camera) -> dict[str, Any]:
    """A large key light, a rim light from behind, and a dim white room, in directions relative to the picture."""

    def panel(direction: Sequence[float], extent: float, radiance: Sequence[float]) -> dict[str, Any]:
        target = np.asarray(camera.target, float)
        place = target + 2 * camera.width * np.asarray(direction) @ camera.axes
        scale = mi.ScalarTransform4f().scale([extent * camera.width] * 3)
        return {
            "type": "rectangle",
            "to_world": look_at(mi, place, target, camera.axes[1]) @ scale,
            "emitter": {"type": "area", "radiance": {"type": "rgb", "value": list(radiance)}},
        }

    return {
        "key": panel((-0.75, 0.85, 0.8), 0.6, (14.0, 13.4, 12.6)),
        "rim": panel((0.9, 0.5, -0.7), 0.5, (9.0, 9.4, 10.0)),
        "room": {"type": "constant", "radiance": {"type": "rgb", "value": [0.33, 0.34, 0.36]}},
    }


def look_at(mi: Any, position: NDArray[np.float64], target: NDArray[np.float64], up: NDArray[np.float64]) -> Any:
    return mi.ScalarTransform4f().look_at(position.tolist(), target.tolist(), up.tolist())


def srgb(linear: NDArray[np.floating[Any]]) -> NDArray[np.uint8]:
    """Linear light in [0, 1] to bytes (IEC 61966-2-1)."""
    light = np.clip(linear, 0, 1)
    coded = np.where(light <= 0.0031308, 12.92 * light, 1.055 * light ** (1 / 2.4) - 0.055)
    return np.asarray(np.rint(255 * coded), np.uint8)
