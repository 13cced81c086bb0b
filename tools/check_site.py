# SPDX-License-Identifier: MIT
"""Check the site as it was built: every link within it leads somewhere, and no page loads anything from elsewhere.

python tools/check_site.py build/site
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

# What a browser loads by itself, as against what people click on.
LOADED = {("img", "src"), ("script", "src"), ("iframe", "src"), ("source", "src"), ("link", "href")}


class Page(HTMLParser):
    """The places of a page that can be linked to, and what it links to."""

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
    """What is wrong, a line each."""
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


def main() -> None:
    found = list(faults(Path(sys.argv[1])))
    print(*found, sep="\n")
    sys.exit(bool(found))


if __name__ == "__main__":
    main()
