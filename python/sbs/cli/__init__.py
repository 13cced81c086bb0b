# SPDX-License-Identifier: MIT
"""The command ``sbs``."""

from __future__ import annotations

import click

from .._core import version
from .bench import bench
from .compare import compare
from .convert import convert
from .correctives import correctives
from .curvature import bend_curvature
from .deform import deform
from .demo import demo
from .errors import Commands
from .formats import formats
from .improve import improve
from .info import info
from .linear import linear
from .muscles import muscles
from .quality import quality
from .samples import samples
from .subdivide import subdivide
from .view import view
from .weights import weights


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"], "show_default": True})
@click.version_option(version)
def main() -> None:
    """Skinning of characters: spherical blend skinning beside linear and dual quaternion skinning."""


for command in (
    info, convert, deform, compare, quality, weights, linear, improve, muscles, correctives, subdivide, bend_curvature,
    view, samples, demo, bench, formats,
):  # fmt: skip
    main.add_command(command)
