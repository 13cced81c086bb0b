# SPDX-License-Identifier: MIT
"""Characters, skins, skeletons and motions in notebooks."""

from __future__ import annotations

from dataclasses import replace
from html.parser import HTMLParser
from typing import Any

import numpy as np
import pytest

import sbs

EVIL = "<script>alert('a&b')</script>\u202e"


class Page(HTMLParser):
    """The tags of a page, all of which are closed, and its text."""

    def __init__(self, shown: Any) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: set[str] = set()
        self.text: list[str] = []
        self.feed(shown._repr_html_())
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attributes: Any) -> None:
        assert attributes == []
        self.tags.add(tag)
        if tag != "br":
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text.append(data)

    def value(self, name: str) -> str:
        return self.text[self.text.index(name) + 1]


@pytest.fixture(scope="module")
def hand() -> sbs.Character:
    return sbs.samples.load("hand")


def test_what_is_shown(hand: sbs.Character) -> None:
    page = Page(hand)
    assert page.text[0] == "sbs.Character 'hand'"
    counts = [page.value(name) for name in ("vertices", "triangles", "joints", "animations", "blend shapes")]
    assert counts == ["1360", str(len(hand.mesh.triangles)), "25", "1: fist", "0"]
    page = Page(hand.skin)
    assert page.value("vertices") == "1360, of which 0 have no weights"
    assert (page.value("type"), page.value("influences")) == ("float32", "up to 4")
    bind = np.tile(np.eye(4), (4, 1, 1))
    page = Page(sbs.Skeleton([-1, 0, 1, 0], bind, names=["hips", "leg", "foot", "spine"]))
    assert page.text == ["4 joints", "hips", "  leg", "    foot", "  spine"]
    turns = np.tile(np.eye(3), (3, 1, 1, 1))
    root, still, times = np.array([-1], np.int32), np.zeros((1, 3)), np.arange(3) / 30
    page = Page(sbs.Motion("walk", ("hips",), root, still, times, turns, np.zeros((3, 1, 3))))
    assert (page.value("frames"), page.value("joints")) == ("3, 0.0666667 s", "1: hips")


def test_names_are_text(hand: sbs.Character) -> None:
    animations = [replace(animation, name=EVIL) for animation in [*hand.animations] * 9]
    skeleton = sbs.Skeleton(hand.skeleton.parents, hand.skeleton.bind_matrices, [f"{EVIL}{k}" for k in range(25)])
    for shown in (replace(hand, name=EVIL, animations=sbs.Animations(animations)), skeleton):
        page = Page(shown)
        assert page.tags <= {"table", "caption", "tr", "th", "td", "details", "summary", "pre", "br"}
        assert any("<script>alert('a&b')</script>\\u202e" in text for text in page.text)
    assert Page(replace(hand, animations=sbs.Animations(animations))).value("animations").startswith("9: <script>")
