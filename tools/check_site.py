# SPDX-License-Identifier: MIT
"""Check the site as it was built.

Links within it lead somewhere, no page loads anything from elsewhere, and every public name of Python and C is there.

python tools/check_site.py build/site
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from html.parser import HTMLParser
from importlib import import_module
from pathlib import Path
from urllib.parse import unquote, urlsplit

from exports import declared_functions

ROOT = Path(__file__).resolve().parent.parent
MODULES = ("sbs", "sbs.formats", "sbs.mesh", "sbs.quality", "sbs.rotations", "sbs.samples", "sbs.weights")

# Attributes whose targets a browser loads by itself, without a click.
LOADED = {("img", "src"), ("script", "src"), ("iframe", "src"), ("source", "src"), ("link", "href")}


class Page(HTMLParser):
    """The places of a page that can be linked to, and its own links."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.anchors: set[str] = set()
        self.links: list[tuple[str, bool]] = []
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            if name == "id" or (tag == "a" and name == "name"):
                self.anchors.add(value or "")
            elif name in ("href", "src"):
                self.links.append((value or "", (tag, name) in LOADED))


def faults(site: Path) -> Iterator[str]:
    """Dead links and loads from elsewhere, a line each."""
    pages = {path.resolve(): Page(path) for path in sorted(site.rglob("*.html"))}
    if not pages:
        yield f"{site} has no pages"
    for path, page in pages.items():
        for link, is_loaded in page.links:
            parts = urlsplit(link)
            where = f"{path.relative_to(site.resolve())}: {link}"
            if parts.scheme or parts.netloc:
                if is_loaded and parts.scheme != "data":
                    yield f"{where} is loaded from elsewhere"
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            if target.is_dir():
                target /= "index.html"
            if not target.is_file():
                yield f"{where} is not there"
            elif parts.fragment and target in pages and unquote(parts.fragment) not in pages[target].anchors:
                yield f"{where} leads to no place of that page"


def untold(site: Path) -> Iterator[str]:
    """The public names that have no place on the pages of the interfaces, a line each."""
    python = Page(site / "python-api.html").anchors
    told = {anchor.rpartition(".")[2] for anchor in python} | {anchor.removeprefix("module-sbs.") for anchor in python}
    for module in MODULES:
        for name in import_module(module).__all__:
            if name not in told and not name.startswith("_"):
                yield f"{module}.{name} is not on python-api.html"
    c = Page(site / "c-api.html").anchors
    for header in sorted((ROOT / "csrc" / "include" / "sbs").glob("*.h")):
        for name in sorted(declared_functions(header)):
            if f"c.{name}" not in c:
                yield f"{name} of {header.name} is not on c-api.html"


def main() -> None:
    site = Path(sys.argv[1])
    found = [*faults(site), *untold(site)]
    print(*found, sep="\n")
    sys.exit(bool(found))


if __name__ == "__main__":
    main()
