# SPDX-License-Identifier: MIT
"""All pages open without a fault and fit the window, and the search finds words."""

from __future__ import annotations

import io

import numpy as np
from browsing import SITE, Visit
from PIL import Image

PAGES = sorted(page.name for page in SITE.glob("*.html") if page.name != "search.html")  # which is empty


def test_all_pages(visit: Visit) -> None:
    assert len(PAGES) > 20
    for name in PAGES:
        page = visit.open(name)
        page.wait_for_load_state("load")
        assert page.locator("h1").count() >= 1, name
        too_wide = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
        assert too_wide <= 0, name


def test_search(visit: Visit) -> None:
    """By the place of each page among those that are found."""
    asked = {
        "candy wrapper": ("methods.html", 99),
        "sbs_skin_update": ("c-api.html", 99),
        "bake": ("formats.html", 99),
        "Unreal": ("engines.html", 3),
        "game engine": ("engines.html", 3),
        "dual quaternion": ("methods.html", 3),
    }
    for words, (found, most) in asked.items():
        page = visit.open(f"search.html?q={words}")
        page.wait_for_selector("#search-results li")
        page.wait_for_function("document.querySelector('.search-summary')?.textContent.includes('found')")
        links = page.eval_on_selector_all("#search-results li > a", "all => all.map(link => link.href)")
        leads = [link.endswith(found) if most == 3 else found in link for link in links[:most]]
        assert any(leads), (words, links)


def test_what_is_written_in_pictures_can_be_read(visit: Visit) -> None:
    """Letters are about 18 pixels high in a picture of 1920, so 7 in one that is 800 wide."""
    page = visit.open("gallery.html")
    page.wait_for_load_state("load")
    widths = page.eval_on_selector_all("article img", "all => all.map(each => [each.width, each.naturalWidth])")
    assert len(widths) > 4
    assert all(shown >= min(natural, 800) for shown, natural in widths), widths


def test_formulas_are_drawn(visit: Visit) -> None:
    page = visit.open("mathematics.html")
    boxes = page.eval_on_selector_all("math", "all => all.map(each => each.getBoundingClientRect().height)")
    assert len(boxes) > 60
    assert min(boxes) > 5


def test_scene_of_three_js(visit: Visit) -> None:
    """It is drawn by the package, with files that convert writes."""
    page = visit.open("three.html")
    page.wait_for_selector("#scene[data-state=ready]")
    picture = Image.open(io.BytesIO(page.locator("#scene canvas").screenshot())).convert("RGB")
    thirds = np.array_split(np.asarray(picture, np.int32), 3, axis=1)
    for third in thirds:
        skin = third[..., 0] - third[..., 2] > 20  # no background has this color
        assert 0.02 < skin.mean() < 0.5
