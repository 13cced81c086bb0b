# SPDX-License-Identifier: MIT
"""The page of `sbs view` beside other pages, and with files that were made to harm whoever looks at them."""

from __future__ import annotations

import http.server
import json
import shlex
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from chromium import browsers, listened_to, wait_for

import sbs

viser = pytest.importorskip("viser")
msgspec = pytest.importorskip("msgspec")
client = pytest.importorskip("websockets.sync.client")
exceptions = pytest.importorskip("websockets.exceptions")

from sbs.view import Window  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")  # of the packages below viser

NAN = float("nan")
HAND = Path(str(resources.files("sbs.characters") / "data" / "hand.glb"))


@pytest.fixture(scope="module")
def hand() -> sbs.Character:
    return sbs.load(HAND)


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    yield from browsers()


@contextmanager
def running(character: sbs.Character, **options: Any) -> Iterator[Window]:
    """A page whose program follows it."""
    window = Window(character, ("LBS",), port=0, **options)
    thread = threading.Thread(target=window.run)
    thread.start()
    try:
        yield window
        assert thread.is_alive(), "the program has ended"
    finally:
        window.stop()
        thread.join()


@contextmanager
def another_page(text: str) -> Iterator[str]:
    """The address of a page that another server has."""

    class Page(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.send_header("Content-Type", "text/html; charset=utf-8")
            self.end_headers()
            self.wfile.write(text.encode())

        def log_message(self, *_: Any) -> None:
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Page)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def authority(window: Window) -> str:
    """Host and port."""
    return window.address.split("/")[2]


def connect(window: Window, **options: Any) -> Any:
    """A connection such as the page of viser opens."""
    where = f"http://{authority(window)}"
    given: dict[str, Any] = {"origin": where, "subprotocols": [f"viser-v{viser.__version__}"], "max_size": None}
    return client.connect(window.address.replace("http:", "ws:"), **given | options)


# Opens a socket to each address that it is given, and keeps how many bytes of the scene come.
TAKE = """<!doctype html><script>
window.taken = [];
for (const [number, address] of ADDRESSES.entries()) {
  window.taken[number] = null;
  const socket = new WebSocket(address, "viser-vVERSION");
  socket.binaryType = "arraybuffer";
  let bytes = 0;
  socket.onmessage = (event) => { bytes += event.data.byteLength; if (bytes > 10000) window.taken[number] = bytes; };
  socket.onclose = () => { window.taken[number] ??= "closed"; };
}
fetch(PAGE).then((found) => found.text()).then((text) => { window.read = text.length; })
  .catch(() => { window.read = "refused"; });
</script>"""


@pytest.mark.thorough
def test_other_pages_get_nothing(hand: sbs.Character, browser: Any) -> None:
    """Neither one that guesses the port, nor one that even knows the secret of the address."""
    with running(hand) as window:
        addresses = [f"ws://{authority(window)}", window.address.replace("http:", "ws:")]
        text = TAKE.replace("ADDRESSES", json.dumps(addresses)).replace("VERSION", viser.__version__)
        with another_page(text.replace("PAGE", json.dumps(window.address))) as address:
            page = browser.new_page()
            page.goto(address)
            wait_for(lambda: page.evaluate("taken.every((found) => found !== null) && window.read !== undefined"))
            assert page.evaluate("taken") == ["closed", "closed"]
            assert page.evaluate("read") == "refused"
        # Another page might lead the clicks of a person to it in a frame.
        with another_page(f'<iframe src="{window.address}"></iframe>') as address:
            page.goto(address)
            wait_for(lambda: page.frames[1].url != "about:blank")
            page.wait_for_timeout(500)
            assert page.frames[1].url.startswith("chrome-error:")
            page.close()


@pytest.mark.parametrize(
    ("lines", "answer"),
    [
        *((f"Host: {host}\r\n", b"address of this machine") for host in ("rebound.example:8080", "127.0.0.1.example")),
        ("Host: 127.0.0.1:8080@example\r\n", b"address of this machine"),
        ("", b"address of this machine"),
        *(
            (f"Host: 127.0.0.1:8080\r\nOrigin: {origin}\r\n", b"Other pages")
            for origin in ("http://example", "null", "http://127.0.0.1:8081")
        ),
        ("Host: 127.0.0.1:8080\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n", b"Other pages"),
        # A page of another origin may post to any port, and other programs may send codes that a terminal obeys.
        ("POST / HTTP/1.1\r\nHost: 127.0.0.1\r\n", b""),
        ("\x1b]0;renamed\x07\r\n", b""),
    ],
)
def test_requests_that_are_refused(
    hand: sbs.Character, caplog: pytest.LogCaptureFixture, lines: str, answer: bytes
) -> None:
    """Even with the secret of the address; nothing of them is written to the terminal."""
    window = Window(hand, ("LBS",), port=0)
    try:
        start = f"GET /{window.address.split('/')[3]} HTTP/1.1\r\n" if answer else ""
        with socket.create_connection(("127.0.0.1", int(authority(window).split(":")[1]))) as connection:
            connection.sendall(f"{start}{lines}\r\n".encode())
            found = b"".join(iter(lambda: connection.recv(4096), b""))
        assert found.startswith(b"HTTP/1.1 403 ") == bool(answer)
        assert answer in found if answer else not found
    finally:
        window._server.stop()
    assert caplog.records == [] or answer


def test_names_of_this_machine(hand: sbs.Character) -> None:
    from websockets.datastructures import Headers
    from websockets.http11 import Request

    from sbs.view.gate import Gate

    gate = Gate("figures.example")
    for host in ("127.0.0.1", "localhost:9000", "[::1]:8080", "Figures.Example:80", socket.gethostname(), "10.1.2.3:1"):
        assert gate.refusal(Request(f"/{gate.token}/", Headers(Host=host))) is None
        refusal = gate.refusal(Request(f"/{gate.token[:-1]}/", Headers(Host=host)))
        assert refusal is not None
        assert "secret" in refusal


@pytest.mark.parametrize("host", ["192.0.2.1", "no.such.example"])
def test_where_nothing_can_be_served(hand: sbs.Character, host: str) -> None:
    with pytest.raises(OSError):
        Window(hand, ("LBS",), host=host)


def test_the_next_port(hand: sbs.Character) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        window = Window(hand, ("LBS",), port=port)
        window._server.stop()
        assert int(authority(window).split(":")[1]) > port


def messages(connection: Any) -> Iterator[dict[str, Any]]:
    """The first messages of the program."""
    import zstandard

    while True:
        data = connection.recv(timeout=60)
        size = int.from_bytes(data[8:16], "little")
        yield from msgspec.msgpack.decode(zstandard.ZstdDecompressor().decompress(data[16 : 16 + size]))["messages"]


CAMERA = {
    "type": "ViewerCameraMessage",
    "wxyz": [1, 0, 0, 0],
    "position": [0, 0, 3],
    "fov": 0.9,
    "near": 0.01,
    "far": 1000,
    "image_height": 480,
    "image_width": 640,
    "look_at": [0, 0, 0],
    "up_direction": [0, 1, 0],
}


def test_what_a_page_may_say(hand: sbs.Character, monkeypatch: pytest.MonkeyPatch, capfd: Any) -> None:
    """Valid values of the controls, and nothing else, whoever it is."""
    asked = threading.Event()
    monkeypatch.setattr(viser.ViserServer, "request_share_url", lambda self: asked.set())
    with running(hand) as window, connect(window) as connection:
        kinds: dict[str, dict[str, Any]] = {}
        for message in messages(connection):
            if message["type"].startswith("Gui") and "uuid" in message:
                kinds[message.get("props", {}).get("label", "")] = message
            if message["type"] == "ReplayDoneMessage":
                break

        def say(**message: Any) -> None:
            connection.send(msgspec.msgpack.encode(message))

        def put(label: str, **updates: Any) -> None:
            say(type="GuiUpdateMessage", uuid=kinds[label]["uuid"], updates=updates)

        say(**CAMERA)
        wait_for(lambda: len(window._server.get_clients()) == 1)
        (there,) = window._server.get_clients().values()
        numbers: list[Any] = [NAN, float("inf"), 181, -1e308, None, "10", [1], {}, True]
        for value in numbers:
            put("Turn x", value=value)
        choices: list[tuple[str, Any]] = [
            ("Colors", "plaid"),
            ("Motion", "dance"),
            ("Joint", "nobody"),
            ("Play", "yes"),
            ("Time", 0.5),  # while joints are turned by hand
            ("Reset", "everything"),
        ]
        for label, value in choices:
            put(label, value=value)
        put("Turn y", value=10, update_cb=["nothing"])
        put("Turn z", update_cb=["nothing"])
        put("Command of sbs compare", removed=True)
        turns: list[Any] = [[0, 0, 0, 0], [NAN, 0, 0, 1], [1, 0, 0], "turn", None]
        for value in turns:
            name = window._gizmo.name
            say(type="TransformControlsUpdateMessage", name=name, wxyz=value, position=[0, 0, 0], owner="")
        views: dict[str, Any] = {"position": [1e308, 0, 0], "image_width": 10**9, "up_direction": [NAN, 1, 0]}
        for key, value in views.items():
            say(**CAMERA | {key: value})
        say(**CAMERA, wish=1)
        say(type="GuiUpdateMessage", uuid=kinds["Turn x"]["uuid"], updates={"value": 10}, wish=1)
        say(type="TransformControlsDragStartMessage", name=window._gizmo.name, owner=1)
        say(type="ShareUrlRequest")
        say(type="FileTransferStartUpload", source_component_uuid=kinds["Turn x"]["uuid"], transfer_uuid="a")
        say(type=["ViewerCameraMessage"])
        say()
        for data in (b"\xc1", b"\xa1\x82", b"\xdd\xff\xff\xff\xff", b"\x91" * 200_000, b"\x81\x80\x80", "text"):
            connection.send(data)
        put("Turn x", value=30)
        wait_for(lambda: window.posing.turns[0].tolist() == [30, 0, 0])
        put("Colors", value="weights of the joint")
        wait_for(lambda: window._coloring.value == "weights of the joint")
        put("Command of sbs compare", value=True)
        wait_for(lambda: window._command.content != "")
        assert (window._time.value, window._play.value, window._motion.value) == (0, False, "joints, by hand")
        np.testing.assert_array_equal(there.camera.position, [0, 0, 3])
        assert not asked.is_set()
        put("Picture", value=True)
        next(message for message in messages(connection) if message["type"] == "GetRenderRequestMessage")
    wait_for(lambda: not any(thread.name.startswith("ThreadPool") for thread in threading.enumerate()), 60)
    assert "Traceback" not in "".join(capfd.readouterr())


HOSTILE = [
    'a\n```\n\n<iframe srcdoc="<script>parent.ran = true</script>"></iframe>',
    "</pre><script>window.ran = true</script>",
    "`{window.ran = true}`",
    "![image](/etc/hostname)",
    "&lt;b&gt;\u202ebold\u202c",
]


def hostile_glb(path: Path) -> None:
    """The hand, by other names."""
    data = HAND.read_bytes()
    size = int.from_bytes(data[12:16], "little")
    content = json.loads(data[20 : 20 + size])
    joints = content["skins"][0]["joints"]
    for joint, name in zip(joints, HOSTILE, strict=False):
        content["nodes"][joint]["name"] = name
    fist = content["animations"][0]
    content["animations"] = [fist | {"name": name} for name in (*HOSTILE, "joints, by hand", "", "a", "a")]
    text = json.dumps(content).encode()
    text += b" " * (-len(text) % 4)
    rest = data[20 + size :]
    chunks = len(text).to_bytes(4, "little") + b"JSON" + text + rest
    path.write_bytes(data[:8] + (12 + len(chunks)).to_bytes(4, "little") + chunks)


@pytest.mark.thorough
def test_names_are_text(browser: Any, tmp_path: Path) -> None:
    """Of joints, of animations and of the file: whatever they are, none of it is markup or a script."""
    path = tmp_path / f"{HOSTILE[1].replace('/', '')}.glb"
    hostile_glb(path)
    character = sbs.load(path)
    told: list[str] = []
    errors: list[str] = []
    with running(character, file=path, told=told.append) as window:
        page = listened_to(browser, errors)
        page.goto(window.address)
        page.get_by_role("button", name="Command of sbs compare").wait_for()
        for name in HOSTILE:
            window._name.value = name
            before = len(told)
            page.get_by_role("button", name="Command of sbs compare").click()
            wait_for(lambda before=before: len(told) > before)  # type: ignore[misc]
            assert shlex.split(told[-1])[:5] == ["sbs", "compare", str(path), "--joint", name]
            page.wait_for_timeout(300)
            assert page.evaluate("window.ran") is None
            assert page.evaluate("document.querySelector('pre').textContent") == told[-1]
        names: list[str | None] = [*dict.fromkeys(character.animations.names)]
        assert len(window._motion.options) == len(names) + 1
        for moved, option in zip([*names, None], [*window._motion.options[1:], "joints, by hand"], strict=True):
            before = window.updates
            window._motion.value = option
            wait_for(lambda before=before: window.updates > before)  # type: ignore[misc]
            assert window.posing.animation == moved
        assert page.evaluate("window.ran") is None
        assert errors == []
        page.close()
