# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs in the Blender that is under test: installs the add-on as users do, and answers questions from outside.

blender --factory-startup --python inside.py -- <archive> <socket>

Each line that comes in is Python as a JSON string; it is run between two events of the window, and the value of
``result`` goes back. Only looking and preparing is done so: tests act by mouse and keyboard.
"""

from __future__ import annotations

import json
import socket
import sys
import traceback
from pathlib import Path
from typing import Any

import bpy

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import addon

_INTERVAL = 0.02


class Server:
    """One connection at a time, asked whenever Blender's timer rings."""

    def __init__(self, path: str) -> None:
        self._listening = socket.socket(socket.AF_UNIX)
        # It gets its name once it listens: whoever waits for that connects at once.
        self._listening.bind(f"{path}.new")
        self._listening.listen(1)
        self._listening.setblocking(False)
        Path(f"{path}.new").rename(path)
        self._connection: socket.socket | None = None
        self._pending = b""

    def poll(self) -> float:
        try:
            if self._connection is None:
                self._connection, _ = self._listening.accept()
                self._connection.setblocking(False)
            self._pending += self._connection.recv(1 << 20)
        except BlockingIOError:
            pass
        while self._connection is not None and b"\n" in self._pending:
            line, self._pending = self._pending.split(b"\n", 1)
            self._connection.setblocking(True)
            self._connection.sendall(answer(json.loads(line)).encode() + b"\n")
            self._connection.setblocking(False)
        return _INTERVAL


def answer(code: str) -> str:
    """What code comes to, as JSON: its ``result``, or the traceback, which `Session.run` raises outside."""
    try:
        return json.dumps({"result": run(code)})
    # Whatever it is: in a timer, Blender would print it, and never ring again.
    except Exception:
        return json.dumps({"error": traceback.format_exc()})


def run(code: str) -> object:
    """Run code in the context of the 3D view; its ``result``."""
    window = bpy.data.window_managers[0].windows[0]
    area = next(area for area in window.screen.areas if area.type == "VIEW_3D")
    region = next(region for region in area.regions if region.type == "WINDOW")
    names: dict[str, object] = {
        "bpy": bpy,
        "json": json,
        "addon": addon,
        "area": area,
        "window": window,
        "result": None,
    }
    with bpy.context.temp_override(window=window, area=area, region=region):
        exec(compile(code, "<from outside>", "exec"), names)
    return names["result"]


def main() -> None:
    archive, path = sys.argv[sys.argv.index("--") + 1 :]
    preferences: Any = bpy.context.preferences
    preferences.view.show_splash = False
    # The same pixels wherever it runs.
    preferences.view.ui_scale = 1.0
    preferences.view.smooth_view = 0
    # One picture for each redraw, where there is no graphics card.
    preferences.system.viewport_aa = "FXAA"
    preferences.filepaths.use_load_ui = False
    addon.provide(Path(archive))
    addon.enable()
    addon.spread_no_twists()
    bpy.app.timers.register(Server(path).poll, persistent=True)


main()
