# SPDX-License-Identifier: MIT
"""``sbs view``: a character in the browser."""

from __future__ import annotations

import webbrowser
from pathlib import Path

import click

from ..character import load
from ..quality.methods import METHODS
from .options import CHARACTER, STRICT
from .terminal import say


@click.command()
@CHARACTER
@click.option(
    "--method",
    "methods",
    type=click.Choice([*METHODS]),
    multiple=True,
    help="A method; up to three, side by side.  [default: LBS, SBS, DQS]",
)
@click.option("--host", default="127.0.0.1", show_default=True, help="Who may see it: 0.0.0.0 is everybody.")
@click.option("--port", type=click.IntRange(0, 65535), default=8080, show_default=True, help="Or the next free one.")
@click.option("--browser/--no-browser", default=True, show_default=True, help="Open the page.")
@STRICT
def view(file: Path, methods: tuple[str, ...], host: str, port: int, browser: bool, strict: bool) -> None:
    """Show the character in FILE in a page of the browser, by up to three methods side by side.

    Joints are turned by sliders or a gizmo, and animations are played. Colors show the weights of a joint, or the areas
    that are lost and won; dots show rotation centers. Ctrl-C ends it.
    """
    from ..view import Window

    names = methods or ("LBS", "SBS", "DQS")
    if len(names) > 3 or len(set(names)) < len(names):
        raise click.BadParameter("up to three different ones are shown", param_hint="--method")
    window = Window(load(file, strict=strict), names, file=file, host=host, port=port, told=say)
    say(f"{window.address} shows {file}; Ctrl-C ends it")
    if browser:
        webbrowser.open(window.address)
    try:
        window.run()
    except KeyboardInterrupt:
        window.stop()
