# SPDX-License-Identifier: MIT
"""Draw the bent knee of a Rigify human by three settings of the add-on: docs/images/at-joints.png.

    PYTHONPATH=python BLENDER_PYTHON tests/blender/rigify_knee.py knee.npz
    python tools/draw_at_joints.py knee.npz

BLENDER_PYTHON is one that has Blender as a module.
"""

from __future__ import annotations

from pathlib import Path

import click
import numpy as np

from sbs.picture import Camera, Row, compose, portraits
from sbs.picture.portraits import CLAY
from sbs.support.files import replacing

IMAGE = Path(__file__).parents[1] / "docs" / "images" / "at-joints.png"
HEADINGS = ("Linear", "Spherical, At Joints 1", "Spherical, At Joints 0.35")


@click.command(help=__doc__.splitlines()[0])
@click.argument("knee", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--width", default=384, show_default=True, help="Pixels across a picture.")
@click.option("--samples", default=64, show_default=True, help="Light paths per pixel.")
def main(knee: Path, width: int, samples: int) -> None:
    with np.load(knee) as arrays:
        rest, triangles, shapes, center = (arrays[name] for name in ("rest", "triangles", "shapes", "knee"))
    camera = Camera(center + np.array([0, 0.06, 0.1]), (1, 0.0, 0.15), (0, 0, 1), 0.42)
    colors = np.tile(CLAY, (len(rest), 1))
    pictures = list(portraits(rest, triangles, shapes, colors, camera, (width, width), samples=samples))
    sheet = compose([Row(pictures, [""] * len(pictures), "The knee of a Rigify human bent by 110°")], HEADINGS)
    with replacing(IMAGE) as temporary:
        sheet.save(temporary, optimize=True)


if __name__ == "__main__":
    main()
