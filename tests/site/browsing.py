# SPDX-License-Identifier: MIT
"""A page of the site in a browser, and its faults."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from playwright.sync_api import ConsoleMessage, Page, Request

SITE = Path(__file__).parents[2] / "build" / "site"


@dataclass
class Visit:
    """A page, and the faults in its console."""

    page: Page
    address: str
    faults: list[str] = field(default_factory=list)

    def open(self, name: str) -> Page:
        self.page.goto(f"{self.address}/{name}")
        return self.page

    def listen(self) -> None:
        """Note all faults from now on: errors, and requests that fail or go elsewhere."""
        self.page.on("console", self.hear)
        self.page.on("pageerror", lambda error: self.faults.append(str(error)))
        self.page.on("requestfailed", self.miss)
        self.page.on("request", self.see)

    def hear(self, message: ConsoleMessage) -> None:
        if message.type == "error":
            self.faults.append(message.text)

    def miss(self, request: Request) -> None:
        if request.failure != "net::ERR_ABORTED":  # when a page was left before
            self.faults.append(f"{request.url}: {request.failure}")

    def see(self, request: Request) -> None:
        if not request.url.startswith((self.address, "data:", "blob:")):
            self.faults.append(f"{request.url} is elsewhere")
