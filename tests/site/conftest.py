# SPDX-License-Identifier: MIT
"""The site in a browser: ``python -m pytest tests/site``, after ``make docs``, with Debian's chromium."""

from __future__ import annotations

import http.server
import shutil
import threading
from collections.abc import Iterator
from functools import partial
from typing import Any

import pytest
from browsing import SITE, Visit
from playwright.sync_api import Browser, sync_playwright

# WebGL and WebGPU without a graphics driver. The sandbox is not for those who run as root.
FLAGS = ["--no-sandbox", "--use-gl=angle", "--use-angle=swiftshader", "--enable-unsafe-swiftshader"]
FLAGS += ["--enable-unsafe-webgpu", "--use-webgpu-adapter=swiftshader"]


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *args: Any) -> None:
        pass


@pytest.fixture(scope="session")
def address() -> Iterator[str]:
    """Where the site is served."""
    assert (SITE / "index.html").exists(), "make docs builds the site"
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=SITE))
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=FLAGS)
        yield browser
        browser.close()


@pytest.fixture(params=[1280, 390], ids=["wide", "narrow"])
def visit(browser: Browser, address: str, request: pytest.FixtureRequest) -> Iterator[Visit]:
    """A browser window of two widths; nothing may be said of faults, or fail to load, or come from elsewhere."""
    page = browser.new_page(viewport={"width": request.param, "height": 900})
    visit = Visit(page, address)
    visit.listen()
    yield visit
    page.close()
    assert visit.faults == []
