# SPDX-License-Identifier: MIT
"""The page: its controls, and the loop that follows them."""

from __future__ import annotations

import html
import shlex
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ..characters.character import Character
from ..correctives import Correctives
from ..muscles import MuscleCover
from ..quality.methods import MuscleMethod, NamedMethod, TwistMethod, chosen, corrected
from ..rigging.content import unique_names
from ..support.extras import load
from .posing import Posing
from .shape import Surface, has_centers
from .stage import Coloring, Figure

# Seconds between two pictures, at least.
_PAUSE = 1 / 60

# Seconds that a browser has to draw a picture.
_PATIENCE = 120

_COMMAND_STYLE = "margin: 0 1em 0.5em; font-size: 0.75em; white-space: pre-wrap; overflow-wrap: anywhere"

_BY_HAND = "joints, by hand"
_COLORINGS: dict[str, Coloring] = {"none": "none", "weights of the joint": "weights", "areas lost and won": "areas"}


class Window:
    """A page in the browser that shows a character by up to three methods side by side.

    Methods are named as in `sbs.quality.METHODS`. With muscles (`cover`) one more is SBS with them; with correctives
    one more is the last of the methods with these shapes. `file`, `cover_from` and `correctives_from` are told by the
    command that draws the pose, which `told` gets. Port 0 is any that is free.

    Raises
    ------
    ValueError
        If a method is not known, there are none or more than three, or blend shapes move the mesh away from muscles.
    MissingExtraError
        If viser is not installed.
    OSError
        If `host` is not this machine, or no port is free.
    """

    def __init__(
        self,
        character: Character,
        methods: Sequence[str] = ("LBS", "SBS", "DQS"),
        *,
        file: Path | None = None,
        cover: MuscleCover | None = None,
        cover_from: str | Path = "fit",
        correctives: Correctives | None = None,
        correctives_from: str | Path = "draft",
        host: str = "127.0.0.1",
        port: int = 8080,
        told: Callable[[str], object] | None = None,
    ) -> None:
        self._methods: dict[str, NamedMethod] = chosen(list(methods)) if methods else {}
        names = list(methods)
        if correctives is not None and self._methods:
            self._methods["corrected"] = corrected(next(reversed(self._methods.values())), correctives)
            names.append("corrected")
        if cover is not None:
            self._methods["muscles"] = MuscleMethod.spherical(cover)
            names.append("muscles")
        if not 1 <= len(names) <= 3 or len(self._methods) != len(names):
            raise ValueError(f"one to three different methods are shown, not {', '.join(names) or 'none'}")
        self._cover_from, self._correctives_from = cover_from, correctives_from
        viser = load("viser", "viser", "pages in the browser")
        from .gate import Gate  # which imports packages that viser needs

        self._character, self._file, self._told = character, file, told
        self._gate = Gate(host)
        self._server = self._gate.server(viser, host=host, port=port, label="sbs view", verbose=False)
        self._host = f"[{host}]" if ":" in host else host
        self.posing = Posing(character)
        self.updates = 0
        self._joint = 0
        self._changed, self._stopped = threading.Event(), threading.Event()
        self._lock = threading.RLock()
        self._build_scene()
        self._build_controls()
        self._changed.set()

    @property
    def address(self) -> str:
        """Where the browser finds the page; whoever knows it can see and use the page."""
        return f"http://{self._host}:{self._server.get_port()}/{self._gate.token}"

    # -------------------------------------------------------------------------------------------------- the scene

    def _build_scene(self) -> None:
        scene = self._server.scene
        at_rest = self.posing.rest_positions()
        rest = self._character.skin.deform(self._character.rest_matrices, rest_positions=at_rest)
        low, high = rest.min(axis=0).astype(np.float64), rest.max(axis=0).astype(np.float64)
        size = float(np.linalg.norm(high - low)) or 1.0
        self._scale = 2.0 / size
        extent, middle = (high - low) * self._scale, (high + low) / 2 * self._scale
        pitch = 1.15 * max(float(extent[0]), 0.35)
        surface = Surface(self._character)
        scene.set_up_direction("+y")
        scene.add_grid(
            "/floor",
            width=12.0,
            height=12.0,
            plane="xz",
            cell_size=0.25,
            position=(0.0, float(low[1]) * self._scale, 0.0),
            section_color=(205, 205, 205),
            cell_color=(228, 228, 228),
        )
        self._figures = []
        for number, (name, method) in enumerate(self._methods.items()):
            place = (number - (len(self._methods) - 1) / 2) * pitch
            offset = np.array([place, 0.0, 0.0]) - [middle[0], 0.0, middle[2]]
            node = f"/{name.replace(' ', '_')}"
            self._figures.append(Figure(self._server, node, self._character, surface, method, offset, self._scale))
            top = (float(middle[0]), float(high[1]) * self._scale + 0.08, float(middle[2]))
            scene.add_label(f"{node}/label", method.label, position=top)
        self._gizmo = scene.add_transform_controls(
            f"/{next(iter(self._methods)).replace(' ', '_')}/gizmo",
            scale=0.25,
            disable_axes=True,
            disable_sliders=True,
            depth_test=False,
        )
        self._gizmo.on_update(self._on_pose)
        span = max(pitch * len(self._methods), float(extent[1]))
        self._server.initial_camera.position = (0.15 * span, float(middle[1]) + 0.1 * span, span)
        self._server.initial_camera.fov = 0.9
        self._server.initial_camera.look_at = (0.0, float(middle[1]), 0.0)

    def _build_controls(self) -> None:
        gui = self._server.gui
        gui.configure_theme(control_layout="fixed", show_share_button=False, show_logo=False)
        # An option that is empty, or that is there twice, would stop the script of the page.
        joints = unique_names([name or "joint" for name in self._character.skeleton.names])
        animations = list(dict.fromkeys(self._character.animations.names))
        motions = unique_names([_BY_HAND, *(name or "animation" for name in animations)])
        self._animation_names: dict[str, str | None] = dict(zip(motions, [None, *animations], strict=True))
        with gui.add_folder("Pose"):
            self._motion = gui.add_dropdown("Motion", tuple(motions))
            self._play = gui.add_checkbox("Play", False, disabled=True)
            self._time = gui.add_slider("Time", min=0.0, max=1.0, step=0.001, initial_value=0.0, disabled=True)
            self._name = gui.add_dropdown("Joint", tuple(joints))
            self._sliders = [
                gui.add_slider(f"Turn {axis}", min=-180.0, max=180.0, step=0.5, initial_value=0.0) for axis in "xyz"
            ]
            self._shows_gizmo = gui.add_checkbox("Gizmo", True)
            reset = gui.add_button_group("Reset", ("joint", "all joints"))
        with gui.add_folder("Show"):
            self._coloring = gui.add_dropdown("Colors", tuple(_COLORINGS))
            self._centers = gui.add_checkbox(
                "Rotation centers", False, disabled=not any(map(has_centers, self._methods.values()))
            )
            has_muscles = any(isinstance(method, MuscleMethod) for method in self._methods.values())
            self._muscles = gui.add_checkbox("Muscles", False, disabled=not has_muscles)
        with gui.add_folder("Take with you"):
            picture = gui.add_button("Picture")
            command = gui.add_button("Command of sbs compare")
            self._command = gui.add_html("")
        shown = self._play, self._coloring, self._centers, self._muscles, self._shows_gizmo
        self._gate.allow(*shown, self._motion, self._time, self._name, *self._sliders, reset, picture, command)
        self._motion.on_update(self._on_motion)
        self._name.on_update(self._on_joint)
        for control in (self._time, *self._sliders):
            control.on_update(self._on_pose)
        reset.on_click(self._on_reset)
        for control in shown:
            control.on_update(lambda _: self._changed.set())
        picture.on_click(self._on_picture)
        command.on_click(self._on_command)

    # ------------------------------------------------------------------------------- input of a person in the browser

    def _on_motion(self, _: Any) -> None:
        with self._lock:
            animation = self._animation_names[self._motion.value]
            by_hand = animation is None
            self.posing.animation, self.posing.time = animation, 0.0
            self._play.value = False
            if animation is not None:
                self._time.max = max(self._character.animations[animation].duration, 0.001)
            self._time.value = 0.0
            for control in (self._play, self._time):
                control.disabled = by_hand
            for slider in self._sliders:
                slider.disabled = not by_hand
        self._changed.set()

    def _on_joint(self, _: Any) -> None:
        with self._lock:
            self._joint = self._name.options.index(self._name.value)
            self._show_turns()
        self._changed.set()

    def _on_pose(self, event: Any) -> None:
        """Follow the time, a slider or the gizmo, if a browser has moved it."""
        if event.client is None:
            return
        with self._lock:
            if event.target is self._time:
                self.posing.time = float(self._time.value)
            elif event.target in self._sliders:
                self.posing.turns[self._joint] = [slider.value for slider in self._sliders]
            elif self.posing.animation is None:
                self.posing.turn_to(self._joint, self._gizmo.wxyz)
                self._show_turns()
        self._changed.set()

    def _on_reset(self, event: Any) -> None:
        with self._lock:
            self.posing.turns[self._joint if event.target.value == "joint" else slice(None)] = 0.0
            self._show_turns()
        self._changed.set()

    def _show_turns(self) -> None:
        """Let the sliders show how the joint is turned."""
        for slider, degrees in zip(self._sliders, self.posing.turns[self._joint], strict=True):
            slider.value = float(np.clip(degrees, -180.0, 180.0))

    def _on_picture(self, event: Any) -> None:
        client = event.client
        camera = client.camera
        size = camera.image_height, camera.image_width
        try:
            picture = client.get_render(*size, transport_format="png", timeout=_PATIENCE)
        except (RuntimeError, TimeoutError):  # the page was closed, or is behind others
            return
        encode = load("imageio.v3", "imageio", "pages in the browser").imwrite
        client.send_file_download("view.png", encode("<bytes>", picture, extension=".png"), save_immediately=True)

    def _on_command(self, event: Any) -> None:
        camera = event.client.camera
        text = self.command(np.asarray(camera.position) - np.asarray(camera.look_at), np.asarray(camera.up_direction))
        self._command.content = f'<pre style="{_COMMAND_STYLE}">{html.escape(text)}</pre>'
        if self._told is not None:
            self._told(text)

    def command(self, view: np.ndarray, up: np.ndarray) -> str:
        """The command that draws the pose as it is seen: `view` (3,) is from the mesh towards the camera."""
        with self._lock:
            words = ["sbs", "compare", str(self._file or "FILE"), *self.posing.arguments(self._joint)]
        options: dict[str, str] = {}
        for method in self._methods.values():
            for option in ("rotation", "center"):
                if option in method.options:
                    options[f"--{option}"] = str(method.options[option])
            if isinstance(method, TwistMethod):
                options["--twist"] = "auto"
            if isinstance(method, MuscleMethod):
                options["--muscles"] = str(self._cover_from)
            if "correctives" in method.options:
                options["--correctives"] = str(self._correctives_from)
        for option, value in options.items():
            words += [option, value]
        for option, direction in (("--view", view), ("--up", up)):
            length = float(np.linalg.norm(direction)) or 1.0
            words.append(f"{option}=" + ",".join(f"{round(number / length, 4):g}" for number in direction))
        return shlex.join([*words, "-o", "view.png"])

    # ------------------------------------------------------------------------------------------------------- the loop

    def run(self) -> None:
        """Follow the controls until `stop` is called, from another thread or by an exception such as Ctrl-C."""
        before = time.perf_counter()
        try:
            while not self._stopped.is_set():
                self._changed.wait(_PAUSE if self._play.value else 0.25)
                now = time.perf_counter()
                if self._play.value:
                    with self._lock:
                        self.posing.time = (self.posing.time + now - before) % float(self._time.max)
                        self._time.value = round(self.posing.time, 3)
                    self._changed.set()
                before = now
                if self._changed.is_set():
                    self._changed.clear()
                    self.update()
                    time.sleep(max(0.0, _PAUSE - (time.perf_counter() - now)))
        finally:
            self._server.stop()

    def stop(self) -> None:
        """End the loop."""
        self._stopped.set()
        self._changed.set()

    def update(self) -> None:
        """Show the pose and the colors that the controls have."""
        with self._lock:
            matrices, rest = self.posing.matrices(), self.posing.rest_positions()
            joint, by_hand = self._joint, self.posing.animation is None
            place, axes = self.posing.frame(joint)
        coloring, centers = _COLORINGS[self._coloring.value], bool(self._centers.value)
        muscles = bool(self._muscles.value)
        with self._server.atomic():
            for figure in self._figures:
                figure.pose(matrices, rest, coloring, joint, centers=centers, muscles=muscles)
            self._gizmo.visible = bool(self._shows_gizmo.value) and by_hand
            self._gizmo.position = tuple(place * self._scale)
            self._gizmo.wxyz = tuple(axes)
        self._server.flush()
        self.updates += 1
