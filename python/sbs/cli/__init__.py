# SPDX-License-Identifier: MIT
"""The command ``sbs``."""

from __future__ import annotations

import click

from .bench import bench
from .compare import compare
from .deform import deform
from .demo import demo
from .errors import Commands
from .info import info
from .quality import quality
from .weights import weights


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="spherical-blend-skinning")
def main() -> None:
    """Skinning of characters: spherical blend skinning beside linear and dual quaternion skinning."""


for command in (info, deform, compare, quality, weights, demo, bench):
    main.add_command(command)
