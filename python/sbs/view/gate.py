# SPDX-License-Identifier: MIT
"""Access to the page, and the messages that a browser may send to the program.

viser serves everybody who can reach its port, such as other pages in the same browser, and trusts every message. A
`Gate` puts a secret into the address of the page, refuses requests by other host names or from other pages, and drops
messages that are not valid values of the page's controls.
"""

from __future__ import annotations

import contextlib
import errno
import functools
import ipaddress
import logging
import re
import secrets
import socket
import threading
from collections.abc import Callable
from io import StringIO
from typing import Any

import msgspec
import websockets.asyncio.server as websocket_server
from websockets.asyncio.server import ServerConnection
from websockets.http11 import Request, Response

from ..support.json_files import is_number

# Larger numbers are nowhere in the scene, and their squares would overflow.
_FARTHEST = 1e30

# How many ports are tried.
_PORTS = 100

# Pixels.
_LARGEST_PICTURE = 16384

# The page of viser is one file. All scripts in it are viser's: texts from a character never become markup.
_POLICY = (
    "default-src 'none'; script-src 'unsafe-inline' 'unsafe-eval' blob:; worker-src blob: data:; "
    "style-src 'unsafe-inline'; img-src data: blob:; font-src data:; connect-src 'self' data: blob: ws://{host} "
    "wss://{host}; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)

_HOST = re.compile(r"(?:\[(?P<address>[0-9A-Fa-f:.]+)\]|(?P<name>[A-Za-z0-9._-]+))(?::[0-9]+)?")

# websockets logs the bytes of requests that are not HTTP. They are not to reach the terminal.
_log = logging.getLogger(__name__)
_log.addFilter(lambda record: record.getMessage() != "opening handshake failed")

# Held while a server is made, because `serve` of websockets is replaced meanwhile.
_making = threading.Lock()


class Gate:
    """A guard between browsers and viser's server."""

    def __init__(self, host: str) -> None:
        self.token = secrets.token_urlsafe(24)  # the first part of all paths
        self._names = {"localhost", host.lower(), socket.gethostname().lower()}
        self._controls: dict[str, Any] = {}

    def server(self, viser: Any, host: str, port: int, **options: Any) -> Any:
        """A ``viser.ViserServer`` behind this gate, with its own options; OSError if it cannot listen there."""
        original, guarded = websocket_server.serve, []
        listener = _listener(host, port)

        def serve(handler: Callable[..., Any], *arguments: Any, **others: Any) -> Any:
            if handler.__module__.partition(".")[0] != "viser":  # called by another thread
                return original(handler, *arguments, **others)
            guarded.append(handler)
            own = {
                "sock": listener,
                "process_request": functools.partial(self._answer, others["process_request"]),
                "create_connection": self._connection_type(),
                "logger": _log,
            }
            return original(handler, **others | own)

        with _making:
            websocket_server.serve = serve  # type: ignore[assignment,misc]  # where viser looks for it
            try:
                with contextlib.redirect_stdout(StringIO()):  # viser prints an address without the token
                    server = viser.ViserServer(host=host, port=port, **options)
            finally:
                websocket_server.serve = original  # type: ignore[misc]
        if not guarded:
            server.stop()
            listener.close()
            raise RuntimeError(f"viser {viser.__version__} serves in another way, so that its page cannot be guarded")
        return server

    def _answer(self, process_request: Callable[..., Any], connection: ServerConnection, request: Request) -> Any:
        """Refuse a request, or let viser answer it as if the token were not in its path."""
        refusal = self.refusal(request)
        if refusal is not None:
            return connection.respond(403, refusal)
        request.path = "/" + request.path[len(self.token) + 1 :].lstrip("/")
        response = process_request(connection, request)
        if response is not None:
            _restrict(response, request.headers["Host"])
        return response

    def _connection_type(self) -> type[ServerConnection]:
        accepts = self.accepts

        class Connection(ServerConnection):
            """Drops messages that are not accepted."""

            async def recv(self, decode: bool | None = None) -> Any:
                while not accepts(message := await super().recv(decode)):
                    pass
                return message

        return Connection

    def refusal(self, request: Request) -> str | None:
        """Why a request is refused; None if it is not.

        Requests of other pages are known by their headers. If the other page's name was made to lead here (DNS
        rebinding), the host has that name. Otherwise the origin has it, which browsers send with every WebSocket.
        """
        hosts, origins = request.headers.get_all("Host"), request.headers.get_all("Origin")
        if len(hosts) != 1 or not self._is_own(hosts[0]):
            return "The page has to be called by the address of this machine, or by the name that --host has.\n"
        if (origins or "Upgrade" in request.headers) and origins not in (
            [f"http://{hosts[0]}"],
            [f"https://{hosts[0]}"],
        ):
            return "Other pages may not ask for this one.\n"
        token = request.path.partition("?")[0].split("/")[1:2]
        if not token or not secrets.compare_digest(token[0].encode("utf-8", "surrogateescape"), self.token.encode()):
            return "The address of the page has a secret: it is the one that the program tells.\n"
        return None

    def _is_own(self, host: str) -> bool:
        parts = _HOST.fullmatch(host)
        if parts is None:
            return False
        name = (parts["address"] or parts["name"]).lower()
        try:
            ipaddress.ip_address(name)
        except ValueError:
            return name in self._names
        return True

    def allow(self, *controls: Any) -> None:
        """Allow browsers to change the values of controls."""
        for control in controls:
            self._controls[control._impl.uuid] = control

    def accepts(self, message: Any) -> bool:
        """Whether a browser may send a message: one that this page sends, with values that its controls can have.

        viser would do more than that for any browser, such as make the page public by a tunnel.
        """
        try:
            fields = msgspec.msgpack.decode(message)
        except Exception:  # of msgspec or, for invalid text, odd keys, depth or size, of Python
            return False
        if not isinstance(fields, dict):
            return False
        kind = fields.pop("type", None)
        if kind == "GuiUpdateMessage":
            return fields.keys() == {"uuid", "updates"} and self._is_update(**fields)
        names = _MESSAGES.get(kind) if isinstance(kind, str) else None
        if names is None or not names - _OPTIONAL <= fields.keys() <= names:
            return False
        return all(_FIELDS[key](value) for key, value in fields.items())

    def _is_update(self, uuid: object, updates: object) -> bool:
        control = self._controls.get(uuid) if isinstance(uuid, str) else None
        if control is None or control.disabled or not isinstance(updates, dict) or updates.keys() != {"value"}:
            return False
        value = updates["value"]
        if hasattr(control, "options"):
            return isinstance(value, str) and value in control.options
        if hasattr(control, "min"):
            return is_number(value) and control.min <= value <= control.max
        return isinstance(value, bool)


def _listener(host: str, port: int) -> socket.socket:
    """A socket that listens at a port or at the next that is free. viser itself would never stop searching for one."""
    last = min(port + _PORTS, 65535)
    for number in range(port, last + 1):
        try:
            found = socket.getaddrinfo(host, number, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)[0]
            return socket.create_server(found[4][:2], family=found[0])
        except OSError as error:
            if error.errno != errno.EADDRINUSE or number == last:
                raise OSError(error.errno, error.strerror, f"{host}:{number}") from None
    raise AssertionError


def _restrict(response: Response, host: str) -> None:
    """Let the page talk to this server alone, be shown in no other page, and keep its address to itself."""
    response.headers["Content-Security-Policy"] = _POLICY.format(host=host)
    response.headers["Referrer-Policy"] = "no-referrer"
    response.headers["X-Content-Type-Options"] = "nosniff"
    response.headers["Cache-Control"] = "no-store"


def _is_text(value: object) -> bool:
    return isinstance(value, str)


def _is_vector(value: object, count: int = 3) -> bool:
    numbers = value if isinstance(value, list) else []
    return len(numbers) == count and all(is_number(each) and abs(each) <= _FARTHEST for each in numbers)


def _is_rotation(value: object) -> bool:
    """Whether it is a quaternion of about unit length."""
    return isinstance(value, list) and _is_vector(value, 4) and 0.5 < sum(each * each for each in value) < 2.0


def _is_size(value: object) -> bool:
    return type(value) is int and 0 < value <= _LARGEST_PICTURE


_FIELDS: dict[str, Callable[[object], bool]] = {
    "wxyz": _is_rotation,
    **dict.fromkeys(("position", "look_at", "up_direction"), _is_vector),
    **dict.fromkeys(("fov", "near", "far"), is_number),
    **dict.fromkeys(("image_height", "image_width"), _is_size),
    **dict.fromkeys(("name", "owner", "render_uuid"), _is_text),
    "payload": lambda value: isinstance(value, bytes),
}
"""Checks of the fields of messages."""

_CAMERA = {"wxyz", "position", "fov", "near", "far", "image_height", "image_width", "look_at", "up_direction"}
_MESSAGES: dict[str, set[str]] = {
    "ViewerCameraMessage": _CAMERA,
    "TransformControlsUpdateMessage": {"name", "wxyz", "position", "owner"},
    "TransformControlsDragStartMessage": {"name", "owner"},
    "TransformControlsDragEndMessage": {"name", "owner"},
    "GetRenderResponseMessage": {"payload", "render_uuid"},
}
"""Messages of the page besides values of controls, and their fields."""

# Fields that only some versions of viser have. A field that viser does not know would make it fail with a traceback.
_OPTIONAL = {"owner"}
