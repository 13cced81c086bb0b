# SPDX-License-Identifier: MIT
"""``sbs view``: a character in the browser."""

from __future__ import annotations

import webbrowser

import click

from ..quality.methods import METHODS, method_key, without_amount
from .how_to_deform import CORRECTIVES, MUSCLES, HowToDeform, how_to_deform
from .options import SOURCE_OF_MESHES, MethodChoice, Source
from .terminal import say


@click.command()
@SOURCE_OF_MESHES
@click.option(
    "--method",
    "methods",
    type=MethodChoice(METHODS, method_key),
    multiple=True,
    help="A method; up to three, side by side, of which --muscles and --correctives are one each.  [default: LBS, DQS,"
    " smooth twist; with --muscles LBS, SBS; with --correctives LBS, smooth twist]",
)
@how_to_deform(MUSCLES, CORRECTIVES)
@click.option("--host", default="127.0.0.1", help="Who can reach it: 0.0.0.0 is everybody.")
@click.option("--port", type=click.IntRange(0, 65535), default=8080, help="Or the next free one.")
@click.option("--browser/--no-browser", default=True, help="Open the page.")
def view(
    source: Source,
    methods: tuple[str, ...],
    how: HowToDeform,
    host: str,
    port: int,
    browser: bool,
) -> None:
    """Show the character in FILE in a page of the browser, by up to three methods side by side.

    Joints are turned by sliders or a gizmo, and animations are played. Colors show the weights of a joint, or the areas
    that are lost and won; dots show rotation centers. With --muscles there are LBS, SBS and SBS with muscles, and the
    muscles are shown, too. With --correctives the last of the methods is there once more, with these shapes. Ctrl-C
    ends it.
    """
    from ..view import Window

    asked = {"--muscles": how.muscles_from, "--correctives": how.correctives_from}
    made = tuple(option for option, source in asked.items() if source is not None)
    by_default = {
        (): ("LBS", "DQS", "smooth twist"),
        ("--muscles",): ("LBS", "SBS"),
        ("--correctives",): ("LBS", "smooth twist"),
        ("--muscles", "--correctives"): ("smooth twist",),
    }
    names = methods or by_default[made]
    if len(names) + len(made) > 3 or len(set(names)) < len(names):
        beside = f", with that of {' and '.join(made)}" if made else ""
        raise click.BadParameter(f"up to three different ones are shown{beside}", param_hint="--method")
    character = source.load()
    correctives = None
    if how.correctives_from is not None:
        correctives = how.correctives(character, *without_amount(METHODS[names[-1]], character))
    window = Window(
        character,
        names,
        file=source.file,
        cover=how.muscles(character),
        cover_from=how.muscles_from or "fit",
        correctives=correctives,
        correctives_from=how.correctives_from or "draft",
        host=host,
        port=port,
        told=say,
    )
    say(f"{window.address} shows {source.file}; Ctrl-C ends it")
    if browser:
        webbrowser.open(window.address)
    try:
        window.run()
    except KeyboardInterrupt:
        window.stop()
