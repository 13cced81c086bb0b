# SPDX-License-Identifier: MIT
"""Pages in Debian's chromium without a window, whose pictures the processor draws."""

from __future__ import annotations

import json
import shutil
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

# Keeps the numbers of every float array that WebGL gets, by their length, and counts them.
LISTEN = """
window.uploads = {};
for (const name of ["bufferData", "bufferSubData"]) {
  const original = WebGL2RenderingContext.prototype[name];
  WebGL2RenderingContext.prototype[name] = function (...given) {
    for (const array of given) if (array instanceof Float32Array) {
      const found = window.uploads[array.length] ??= {count: 0, last: []};
      found.count += 1;
      found.last = [...found.last.slice(-5), Array.from(array)];
    }
    return original.apply(this, given);
  };
}
"""
ARGUMENTS = ["--no-sandbox", "--use-angle=swiftshader", "--enable-unsafe-swiftshader", "--ignore-gpu-blocklist"]


def browsers() -> Iterator[Any]:
    """A browser, until the next step."""
    pytest.importorskip("viser")
    api = pytest.importorskip("playwright.sync_api")
    chromium = shutil.which("chromium") or shutil.which("chromium-browser")
    if chromium is None:
        pytest.skip("Chromium is not installed")
    with api.sync_playwright() as play:
        found = play.chromium.launch(executable_path=chromium, args=ARGUMENTS)
        yield found
        found.close()


def wait_for(happens: Callable[[], bool], seconds: float = 300) -> None:
    end = time.monotonic() + seconds
    while not happens():
        assert time.monotonic() < end, "nothing has happened"
        time.sleep(0.1)


def listened_to(browser: Any, errors: list[str]) -> Any:
    """A new page that keeps its drawings, and tells its errors."""
    page = browser.new_page(viewport={"width": 700, "height": 620})
    page.set_default_timeout(120_000)
    page.on("console", lambda message: errors.append(message.text) if message.type == "error" else None)
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.add_init_script(LISTEN)
    return page


def drawn(page: Any, count: int) -> list[np.ndarray]:
    """The meshes of so many vertices that the browser has got last."""
    text = page.evaluate(f"JSON.stringify(window.uploads[{3 * count}]?.last ?? [])")
    return [np.array(numbers).reshape(-1, 3) for numbers in json.loads(text)]
