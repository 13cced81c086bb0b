# SPDX-License-Identifier: MIT
"""The options of pictures."""

from __future__ import annotations

from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import click
import numpy as np
from numpy.typing import NDArray

from ..quality.picture import Camera
from ..support.files import replacing
from .options import Decorator, gathered, parse_direction
from .terminal import say

VIEW = click.option(
    "--view", metavar="X,Y,Z", default="0.4,0.2,1", callback=parse_direction, help="From the mesh towards the camera."
)
UP = click.option(
    "--up",
    metavar="X,Y,Z",
    default="0,1,0",
    callback=parse_direction,
    help="The direction that is upward in the picture.",
)


def width_option(default: int) -> Decorator:
    """How wide a picture is."""
    return click.option("--width", type=click.IntRange(200, 20000), default=default, help="Pixels across.")


def samples_option(default: int) -> Decorator:
    """How long is worked on a picture."""
    return click.option("--samples", type=click.IntRange(1, 4096), default=default, help="Light paths per pixel.")


@dataclass(frozen=True)
class PictureOptions:
    """How a picture is drawn: directions towards the camera and upward, pixels across, light paths per pixel."""

    view: tuple[float, ...]
    up: tuple[float, ...]
    width: int
    samples: int

    def camera(self, points: NDArray[np.floating[Any]], aspect: float) -> Camera:
        """A camera that sees all of some points, for pictures of this width over height."""
        return Camera.framing(points, self.view, self.up, aspect=aspect)


PICTURE = tuple(field.name for field in fields(PictureOptions))
"""The options that have no effect without a picture."""


def picture_options(width: int = 1920, samples: int = 64) -> Decorator:
    """Add the options of pictures to a command, as the argument `drawn`, a `PictureOptions`."""
    return gathered("drawn", PictureOptions, VIEW, UP, width_option(width), samples_option(samples))


def save_figure(figure: Any, output: Path) -> None:
    """Write a `PIL.Image.Image`, and say so."""
    with replacing(output) as temporary:
        figure.save(temporary)
    say(output)
