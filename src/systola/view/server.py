"""The server of the page: it gives out the page and the news of the logs, to whoever has the token, and nothing else.

Its threads only read, so that a viewer can never hurt a run.
"""

from __future__ import annotations

import hmac
import ipaddress
import re
import secrets
import socket
import threading
import time
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from systola.errors import InputError
from systola.view.feed import Feed
from systola.view.logs import Logs

LOOPBACK = "127.0.0.1"
TOKEN = re.compile(r"[A-Za-z0-9_-]{16,128}")
_LOOPBACK_NAMES = {"localhost", LOOPBACK, "[::1]"}
_TYPES = {
    ".html": "text/html; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
}
_PAGE = Path(__file__).parent / "page"
_HEADERS = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; "
        "frame-ancestors 'none'; base-uri 'none'; form-action 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-store",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Connection": "close",  # else threads would go on to serve connections after the end of their server
}
_HOST = re.compile(r"(\[[0-9a-f:.]+\]|[a-z0-9._-]+?)\.?(:[0-9]{1,5})?")  # a name or an address, perhaps with a port
_MOST_VIEWERS = 32
_LOOK_EVERY = 0.25  # seconds
_BEAT_EVERY = 5.0  # seconds after which something is written in any case, so that a viewer that left is noticed
_LAST_WORDS = 2.0  # seconds in which viewers get what is left of the logs when the server ends


class PageServer:
    """A server that shows logs, in threads of its own from `start` to `close`.

    Parameters
    ----------
    logs
        What is shown.
    host, port
        Where it listens; port 0 is any that is free.
    token
        The word without which nothing is given out; a new random one by default.

    Attributes
    ----------
    url : str
        The address of the page, with the token.
    is_open : bool
        Whether other machines can reach it.
    """

    def __init__(self, logs: Logs, host: str = LOOPBACK, port: int = 0, token: str | None = None) -> None:
        if token is not None and not TOKEN.fullmatch(token):
            raise InputError("the token of the page must have 16 to 128 letters, digits, - or _; choose another one")
        if not 0 <= port <= 65535:
            raise InputError(f"0 <= port <= 65535 must hold, but got {port}")
        try:
            family, _, _, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
            self._server = _Server(family, address[:2])  # type: ignore[arg-type]
        except (OSError, UnicodeError) as error:
            why = getattr(error, "strerror", None) or error
            raise InputError(f"the page cannot be served at {host}:{port}: {why}; choose others") from None
        self._server.logs = logs
        self._server.token = token or secrets.token_urlsafe(24)
        bound = ipaddress.ip_address(str(self._server.server_address[0]))
        self.is_open = not bound.is_loopback
        self._server.is_own = _own_names(host, self.is_open)
        name = socket.gethostname() if bound.is_unspecified else host
        shown = f"[{name}]" if ":" in name else name
        self._started = False
        self.url = f"http://{shown}:{self._server.server_address[1]}/{self._server.token}/"

    def __repr__(self) -> str:
        return f"<PageServer: {self.url}>"

    def start(self) -> PageServer:
        """Begin to serve, in another thread."""
        if self._started:
            return self
        self._started = True
        threading.Thread(target=self._server.serve_forever, args=(0.1,), daemon=True).start()
        return self

    def close(self) -> None:
        """Give viewers what is left of the logs, and end."""
        if self._server.closing.is_set():
            return
        self._server.closing.set()
        deadline = time.monotonic() + _LAST_WORDS
        while self._server.viewers and time.monotonic() < deadline:
            time.sleep(0.02)
        self._server.shutdown()
        self._server.server_close()

    def __enter__(self) -> PageServer:
        return self.start()

    def __exit__(self, *error: object) -> None:
        self.close()


def _own_names(host: str, is_open: bool) -> Callable[[str], bool]:
    """Whether a request is for this server by a name of its own.

    A page of somebody else can make its own name lead here (DNS rebinding), and browsers would let it read what we
    answer; but such a request has that name as its host.
    """
    names = {*_LOOPBACK_NAMES, host.lower(), f"[{host.lower()}]"}
    if is_open:
        names.add(socket.gethostname().lower())

    def is_own(header: str) -> bool:
        found = _HOST.fullmatch(header.lower())
        if not found:
            return False
        return found[1] in names or (is_open and _is_address(found[1]))  # nobody can make an address lead elsewhere

    return is_own


def _is_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name.strip("[]"))
    except ValueError:
        return False
    return True


class _Server(ThreadingHTTPServer):
    logs: Logs
    token: str
    is_own: Callable[[str], bool]

    def __init__(self, family: socket.AddressFamily, address: tuple[str, int]) -> None:
        self.address_family = family
        self.files = {path.name: path.read_bytes() for path in _PAGE.iterdir() if path.suffix in _TYPES}
        self.closing = threading.Event()
        self.viewers = 0
        self.lock = threading.Lock()
        super().__init__(address, _Handler)

    def handle_error(
        self, request: socket.socket | tuple[bytes, socket.socket], client_address: tuple[str, int]
    ) -> None:
        """Nothing: a browser that hangs up is none of our errors."""


class _Handler(BaseHTTPRequestHandler):
    server: _Server
    protocol_version = "HTTP/1.1"
    server_version, sys_version = "systola", ""
    timeout = 20.0  # seconds that a viewer may be silent, or deaf, in the middle of something

    def do_GET(self) -> None:
        self._answer()

    do_HEAD = do_GET

    def _refuse_method(self) -> None:
        self.send_error(405)

    do_POST = do_PUT = do_DELETE = do_PATCH = do_OPTIONS = do_TRACE = do_CONNECT = _refuse_method

    def _answer(self) -> None:
        hosts = self.headers.get_all("Host") or []
        if len(hosts) != 1 or not self.server.is_own(hosts[0]):
            self.send_error(403, "This server answers to its own name only: open the address that it printed.")
            return
        _, token, *rest = [*self.path.partition("?")[0].split("/", 2), ""][:3]
        if not hmac.compare_digest(token.encode("utf-8", "replace"), self.server.token.encode()):
            self.send_error(403, "The token is missing or wrong: open the whole address that systola printed.")
            return
        name = rest[0]
        if self.path == f"/{self.server.token}":
            self._begin(308, "text/plain; charset=utf-8", Location=f"/{self.server.token}/", Content_Length="0")
        elif name == "events":
            self._stream()
        elif (name or "index.html") in self.server.files:
            self._send_file(name or "index.html")
        else:
            self.send_error(404, "There is nothing here.")

    def _send_file(self, name: str) -> None:
        body = self.server.files[name]
        self._begin(200, _TYPES[Path(name).suffix], Content_Length=str(len(body)))
        if self.command != "HEAD":
            self.wfile.write(body)

    def _stream(self) -> None:
        with self.server.lock:
            is_full = self.server.viewers >= _MOST_VIEWERS
            self.server.viewers += not is_full
        if is_full:
            self.send_error(503, f"{_MOST_VIEWERS} viewers are watching, which is the most; close one of them.")
            return
        try:
            self._begin(200, "text/event-stream; charset=utf-8")
            if self.command != "HEAD":
                self._send_news(Feed(self.server.logs, self.headers.get("Last-Event-ID", "")))
        except OSError:  # the viewer left
            pass
        finally:
            with self.server.lock:
                self.server.viewers -= 1

    def _send_news(self, feed: Feed) -> None:
        self._write(b"retry: 1000\n\n")
        ends_at, beat = float("inf"), time.monotonic() + _BEAT_EVERY
        while time.monotonic() < ends_at:
            closing = self.server.closing.is_set()
            event = feed.next_event()
            if event:
                self._write(event)
            elif closing:
                self._write(b"event: bye\ndata: \n\n")
                return
            elif time.monotonic() > beat:
                self._write(b":\n\n")
            else:
                self.server.closing.wait(_LOOK_EVERY)
                continue
            beat = time.monotonic() + _BEAT_EVERY
            if closing and ends_at == float("inf"):
                ends_at = time.monotonic() + _LAST_WORDS

    def _write(self, content: bytes) -> None:
        self.wfile.write(content)
        self.wfile.flush()

    def _begin(self, code: int, kind: str, **more: str) -> None:
        self.send_response(code)
        self.send_header("Content-Type", kind)
        for name, value in _HEADERS.items():
            self.send_header(name, value)
        for name, value in more.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()

    def send_error(self, code: int, message: str | None = None, explain: str | None = None) -> None:
        """A sentence of plain text, which repeats nothing of the request."""
        sentence = message if code in (403, 404, 503) and message else f"The request was refused ({code})."
        body = f"{sentence}\n".encode()
        more = {"Allow": "GET, HEAD"} if code in (405, 501) else {}
        self._begin(code, "text/plain; charset=utf-8", Content_Length=str(len(body)), **more)
        if getattr(self, "command", None) != "HEAD":
            self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        """Nothing: addresses have the token."""
