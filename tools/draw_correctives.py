# SPDX-License-Identifier: MIT
"""Draw joints of the demo's woman as linear blending, half twist and drafted correctives bend them.

    python tools/draw_correctives.py

writes docs/images/correctives.png and correctives-elbow.png, which moves. Takes the package's own woman, nothing else.
"""

from __future__ import annotations

from pathlib import Path

import click
import numpy as np
from numpy.typing import NDArray
from PIL import Image

import sbs
from sbs.correctives import draft
from sbs.options import BlendOptions
from sbs.picture import Camera, Row, compose, portraits
from sbs.picture.portraits import CLAY
from sbs.poses import axes, turned
from sbs.samples import load as load_sample
from sbs.support.files import replacing

IMAGES = Path(__file__).parents[1] / "docs" / "images"
HEADINGS = ["LBS", "Half twist", "Drafted"]
#: The joint, degrees, caption, and from where it is seen.
JOINTS = (
    ("LeftLeg", 125.0, "The knee bent by 125°", (1.0, 0.1, 0.1)),
    ("LeftForeArm", 80.0, "The elbow bent by 80°", (0.1, 1.0, 0.35)),
)
ELBOW_ANGLES = 90.0 * (0.5 - 0.5 * np.cos(np.linspace(0, np.pi, 9)))
Floats = NDArray[np.float64]


class Figure:
    """The woman with drafts of some joints, in poses of each of these."""

    def __init__(self) -> None:
        self.woman = load_sample("woman")
        twist = sbs.limb_twist(self.woman)
        self._skin = self.woman.twisted_skin(twist, optimized=True)
        self._options = BlendOptions(center="optimized", amount=sbs.twist_amounts(self.woman, twist))
        poses = np.stack([self.pose(joint, degrees) for joint, degrees, *_ in JOINTS])
        names = [joint for joint, *_ in JOINTS]
        self._drafts = draft(self.woman, names, poses=poses, skin=self._skin, **self._options)

    def pose(self, joint: str, degrees: float) -> Floats:
        """Skinning matrices of a joint that is bent."""
        across, _ = axes(self.woman.skeleton, self.woman.skeleton.index(joint))
        return self.woman.skinning_matrices(turned(self.woman.skeleton, joint, tuple(across), degrees))

    def shapes(self, joint: str, degrees: float) -> list[Floats]:
        """The mesh as each of the headings has it."""
        pose = self.pose(joint, degrees)
        return [
            self.woman.skin.deform(pose, method="linear"),
            self._skin.deform(pose, **self._options),
            self._skin.deform(pose, correctives=self._drafts, **self._options),
        ]

    def draw(
        self, shapes: list[Floats], joint: str, view: tuple[float, float, float], width: int, samples: int
    ) -> list[NDArray[np.uint8]]:
        """Portraits of what lies near a joint."""
        mesh, skeleton = self.woman.mesh, self.woman.skeleton
        place = skeleton.joint_positions[skeleton.index(joint)]
        size = float(np.linalg.norm(np.ptp(mesh.positions, axis=0)))
        camera = Camera(place, view, (0, 1, 0), 0.16 * size)
        colors = np.tile(CLAY, (len(mesh.positions), 1))
        return list(portraits(mesh.positions, mesh.triangles, shapes, colors, camera, (width, width), samples=samples))


@click.command(help=__doc__.splitlines()[0])
@click.option("--width", default=300, show_default=True, help="Pixels across a picture.")
@click.option("--samples", default=48, show_default=True, help="Light paths per pixel.")
def main(width: int, samples: int) -> None:
    figure = Figure()
    rows = [
        Row(figure.draw(figure.shapes(joint, degrees), joint, view, width, samples), [""] * len(HEADINGS), caption)
        for joint, degrees, caption, view in JOINTS
    ]
    with replacing(IMAGES / "correctives.png") as temporary:
        compose(rows, HEADINGS).save(temporary, optimize=True)

    joint, _, _, view = JOINTS[1]
    sheets = []
    for degrees in ELBOW_ANGLES:
        shapes = figure.shapes(joint, float(degrees))
        pictures = figure.draw([shapes[0], shapes[2]], joint, view, 200, samples // 2)
        sheets.append(compose([Row(pictures, ["", ""], f"{degrees:.0f}°")], [HEADINGS[0], HEADINGS[2]]))
    moving = [sheet.quantize(96, dither=Image.Dither.NONE) for sheet in [*sheets, *sheets[-2:0:-1]]]
    with replacing(IMAGES / "correctives-elbow.png") as temporary:
        moving[0].save(temporary, save_all=True, append_images=moving[1:], duration=120, loop=0, optimize=True)


if __name__ == "__main__":
    main()
