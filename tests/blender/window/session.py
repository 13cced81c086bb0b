# SPDX-License-Identifier: GPL-3.0-or-later
"""A real Blender in a real window, on a display of its own: driven by mouse and keyboard, seen by screenshots."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from itertools import pairwise
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from PIL import Image

Point = tuple[int, int]
Picture = NDArray[np.uint8]

WIDTH, HEIGHT = 1280, 800
#: How long anything may take, on a slow machine without a graphics card.
PATIENCE = 60.0
_INSIDE = Path(__file__).with_name("inside.py")


class Session:
    """Blender with the add-on from a built archive; a context manager.

    Points are pixels of the screen from its upper left corner.

    Parameters
    ----------
    archive : Path
        The legacy archive, for Blender 3.4.
    folder : Path
        For screenshots.
    program : str
        Blender.
    """

    def __init__(self, archive: Path, folder: Path, program: str = "blender") -> None:
        self.folder = folder
        self._archive = archive.resolve()
        self._program = program
        self._processes: list[subprocess.Popen[Any]] = []
        self._closing = ExitStack()

    def __enter__(self) -> Self:
        try:
            self._start()
        except BaseException:
            self._stop()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._stop()

    def _start(self) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        private = Path(self._closing.enter_context(tempfile.TemporaryDirectory(prefix="sbs-window-")))
        display, writing = os.pipe()
        server = ["Xvfb", "-displayfd", str(writing), "-screen", "0", f"{WIDTH}x{HEIGHT}x24", "+extension", "GLX"]
        with (private / "xvfb.log").open("w") as log:
            self._processes.append(
                subprocess.Popen([*server, "-nolisten", "tcp"], pass_fds=[writing], stdout=log, stderr=log)
            )
        os.close(writing)
        with os.fdopen(display) as reading:
            number = reading.readline().strip()
        if not number:
            raise RuntimeError((private / "xvfb.log").read_text())

        self._environment = os.environ | {"DISPLAY": f":{number}", "LIBGL_ALWAYS_SOFTWARE": "1", "PYTHONPATH": ""}
        for kind in ("config", "scripts", "datafiles"):
            (private / kind).mkdir()
            self._environment[f"BLENDER_USER_{kind.upper()}"] = str(private / kind)
        path = private / "socket"
        size = ["--window-geometry", "0", "0", str(WIDTH), str(HEIGHT)]
        self.log = private / "blender.log"
        with self.log.open("w") as log:
            blender = subprocess.Popen(
                [self._program, "--factory-startup", *size, "--python", str(_INSIDE), "--", str(self._archive), path],
                env=self._environment,
                stdout=log,
                stderr=subprocess.STDOUT,
            )
        self._processes.append(blender)
        self._socket = self._closing.enter_context(socket.socket(socket.AF_UNIX))
        self._socket.settimeout(PATIENCE)
        wait_until(lambda: path.exists() or blender.poll() is not None)
        if blender.poll() is not None:
            raise RuntimeError(self.log.read_text())
        self._socket.connect(str(path))
        self._answers = self._closing.enter_context(self._socket.makefile("r"))
        self.run("result = 1")
        # The first pictures are drawn after the first events.
        self.move((WIDTH // 2, HEIGHT // 2))
        wait_until(lambda: self.screenshot().std() > 10)

    def _stop(self) -> None:
        for process in reversed(self._processes):
            process.terminate()
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        self._closing.close()

    # What Blender says of itself.

    def run(self, code: str, **names: object) -> Any:
        """Run Python in Blender, in the 3D view, and return what it assigned to ``result``; names are JSON."""
        given = "".join(f"{name} = json.loads({json.dumps(value)!r})\n" for name, value in names.items())
        self._socket.sendall(json.dumps(given + code).encode() + b"\n")
        answer = json.loads(self._answers.readline())
        if "error" in answer:
            raise AssertionError(answer["error"])
        return answer["result"]

    def get(self, expression: str) -> Any:
        """The value of an expression in Blender."""
        return self.run(f"result = {expression}")

    def wait_for(self, expression: str) -> None:
        """Wait until an expression is true in Blender."""
        wait_until(lambda: bool(self.get(expression)), expression)

    def region(self, kind: str, area: str = "VIEW_3D") -> tuple[int, int, int, int]:
        """Left, top, right and bottom of a region on the screen."""
        x, y, width, height = self.run(
            "place = next(a for a in window.screen.areas if a.type == area_type)\n"
            "region = next(r for r in place.regions if r.type == kind)\n"
            "result = [region.x, region.y, region.width, region.height]",
            area_type=area,
            kind=kind,
        )
        return x, HEIGHT - y - height, x + width, HEIGHT - y

    def project(self, point: tuple[float, float, float]) -> Point:
        """Where a point of the scene is on the screen."""
        x, y = self.run(
            "from bpy_extras.view3d_utils import location_3d_to_region_2d\n"
            "from mathutils import Vector\n"
            "region = next(r for r in area.regions if r.type == 'WINDOW')\n"
            "where = location_3d_to_region_2d(region, area.spaces.active.region_3d, Vector(point))\n"
            "result = [region.x + where.x, region.y + where.y]",
            point=point,
        )
        return round(x), HEIGHT - round(y)

    # Mouse and keyboard.

    def _xdotool(self, *arguments: object) -> None:
        subprocess.run(["xdotool", *map(str, arguments)], env=self._environment, check=True)
        # What came of it is in the next answer, which Blender gives between events.
        self.run("result = 1")

    def move(self, point: Point) -> None:
        """Move the pointer; in two steps, for Blender takes notice of motion."""
        self._xdotool("mousemove", point[0] + 3, point[1] + 2, "sleep", 0.05, "mousemove", *point, "sleep", 0.1)

    def click(self, point: Point, button: int = 1) -> None:
        self.move(point)
        self._xdotool("mousedown", button, "sleep", 0.08, "mouseup", button, "sleep", 0.1)

    def key(self, *keys: str) -> None:
        """Press keys one after another, such as ``"ctrl+z"``, where the pointer is."""
        for key in keys:
            self._xdotool("key", key, "sleep", 0.1)

    @contextmanager
    def holding(self, key: str) -> Iterator[None]:
        """Hold a key down within the context, where the pointer is."""
        self._xdotool("keydown", key, "sleep", 0.1)
        try:
            yield
        finally:
            self._xdotool("keyup", key, "sleep", 0.1)

    @contextmanager
    def dragging(self, path: list[Point], button: int = 1) -> Iterator[None]:
        """Hold a button down along a path; the button is held within the context."""
        self.move(path[0])
        self._xdotool("mousedown", button, "sleep", 0.1)
        for start, end in pairwise(path):
            for step in np.linspace(start, end, 9)[1:]:
                self._xdotool("mousemove", *np.rint(step).astype(int), "sleep", 0.03)
        try:
            yield
        finally:
            self._xdotool("mouseup", button, "sleep", 0.1)

    def drag(self, path: list[Point]) -> None:
        with self.dragging(path):
            pass

    # The screen.

    def screenshot(self, name: str = "", box: tuple[int, int, int, int] | None = None) -> Picture:
        """The screen, or a part of it, as (height, width, 3); with a name it is kept in the folder."""
        path = self.folder / f"{name or 'screen'}.png"
        subprocess.run(["import", "-silent", "-window", "root", f"PNG24:{path}"], env=self._environment, check=True)
        with Image.open(path) as image:
            part = image.convert("RGB").crop(box or (0, 0, WIDTH, HEIGHT))
        if name:
            part.save(path, optimize=True)
        return np.asarray(part)

    def settled(self, name: str = "", box: tuple[int, int, int, int] | None = None) -> Picture:
        """The screen once two pictures in a row are equal."""
        self.run("bpy.ops.wm.redraw_timer(type='DRAW_WIN_SWAP', iterations=1)")
        before = self.screenshot(name, box)
        deadline = time.monotonic() + PATIENCE
        while time.monotonic() < deadline:
            time.sleep(0.2)
            now = self.screenshot(name, box)
            if np.array_equal(before, now):
                return now
            before = now
        raise AssertionError("the screen keeps changing")

    def find_button(self, wanted: str, box: tuple[int, int, int, int]) -> Point:
        """A button in a part of the screen, by what Blender copies over it.

        With Ctrl-C that is the call of its operator, with Shift-Ctrl-C the path of its property; the text has to be in
        it.
        """
        left, top, right, bottom = box
        keys = "ctrl+c" if wanted.startswith("bpy.ops") else "ctrl+shift+c"
        seen = set()
        for x in (left + 0.6 * (right - left), left + 0.25 * (right - left), left + 0.8 * (right - left)):
            for y in range(top + 4, bottom, 11):
                self.run("bpy.context.window_manager.clipboard = ''")
                self.move((round(x), y))
                self.key(keys)
                found = self.get("bpy.context.window_manager.clipboard")
                seen.add(found)
                if wanted in found:
                    return round(x), y
        raise AssertionError(f"no button {wanted}, but {sorted(seen)}")


def wait_until(condition: Callable[[], bool], what: str = "") -> None:
    """Wait until something is true; an AssertionError if it never becomes so."""
    deadline = time.monotonic() + PATIENCE
    while not condition():
        if time.monotonic() > deadline:
            raise AssertionError(f"did not happen: {what}")
        time.sleep(0.05)


def changed(before: Picture, after: Picture) -> float:
    """The share of pixels that differ visibly between two pictures."""
    return float((np.abs(before.astype(int) - after).max(axis=-1) > 12).mean())
