# SPDX-License-Identifier: MIT
"""A figure of several pictures: columns with headings, rows with captions, a note under each picture."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...support.text import plain
from .extra import load

INK = (28, 30, 34)
GRAY = (104, 108, 116)


@dataclass(frozen=True)
class Row:
    """A row of a figure: pictures (height, width, 3) of one size, a line of text under each, and text under the row."""

    pictures: Sequence[NDArray[np.uint8]]
    notes: Sequence[str]
    caption: str


def column_width(width: int, columns: int) -> int:
    """Pixels of the widest pictures of which so many, with the space around them, fit into a figure of a width."""
    column = width // columns
    while column > 1 and _width(column, columns) > width:
        column -= 1
    return column


def _width(column: int, columns: int) -> int:
    return columns * (column + _margin(column)) + _margin(column)


def _margin(column: int) -> int:
    return max(column // 24, 6)


def compose(rows: Sequence[Row], headings: Sequence[str], footnote: str = "", *, width: int | None = None) -> Any:
    """Compose a `PIL.Image.Image` from rows of pictures, with a heading for each column and small print at the end.

    It is as wide as the pictures need, or `width` pixels. The width of the pictures determines all sizes of text.
    """
    image_module, draw_module = load("PIL.Image", "pillow"), load("PIL.ImageDraw", "pillow")
    column = rows[0].pictures[0].shape[1]
    unit = margin = _margin(column)
    fonts = Fonts(unit)
    pitch = column + margin
    width = _width(column, len(headings)) if width is None else width
    captions = [wrap(row.caption, fonts.caption, width - 2 * margin) for row in rows]
    heights = [
        row.pictures[0].shape[0] + 2 * unit + len(lines) * fonts.line for row, lines in zip(rows, captions, strict=True)
    ]
    small_print = wrap(footnote, fonts.note, width - 2 * margin)
    bottom = margin + 2 * unit + sum(heights) + len(rows) * unit
    image = image_module.new("RGB", (width, bottom + len(small_print) * fonts.line + margin), "white")
    draw = draw_module.Draw(image)

    for index, heading in enumerate(headings):
        draw.text((margin + index * pitch + column / 2, margin), heading, INK, fonts.heading, anchor="ma")
    top = margin + 2 * unit
    for row, lines, height in zip(rows, captions, heights, strict=True):
        foot = top + row.pictures[0].shape[0]
        for index, (picture, note) in enumerate(zip(row.pictures, row.notes, strict=True)):
            image.paste(image_module.fromarray(picture), (margin + index * pitch, top))
            draw.text((margin + index * pitch + column / 2, foot + unit // 4), note, GRAY, fonts.note, anchor="ma")
        for index, line in enumerate(lines):
            draw.text((margin, foot + 2 * unit + index * fonts.line), line, INK, fonts.caption, anchor="la")
        top += height + unit
    for index, line in enumerate(small_print):
        draw.text((margin, bottom + index * fonts.line), line, GRAY, fonts.note, anchor="la")
    return image


class Fonts:
    """Pillow's own font in the sizes of a figure."""

    def __init__(self, unit: int) -> None:
        module = load("PIL.ImageFont", "pillow")
        self.heading = module.load_default(size=1.25 * unit)
        self.note = module.load_default(size=0.95 * unit)
        self.caption = module.load_default(size=1.05 * unit)
        self.line = round(1.4 * unit)


def wrap(text: str, font: Any, width: float) -> list[str]:
    """Lines of at most `width` pixels, broken at spaces."""
    lines: list[str] = []
    for word in map(plain, text.split()):
        if lines and font.getlength(f"{lines[-1]} {word}") <= width:
            lines[-1] += f" {word}"
        else:
            lines.append(word)
    return lines
