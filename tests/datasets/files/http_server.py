"""A server on this machine that fails in the ways that servers and networks do."""

import re
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from mcquack.randomness import stream

# More than one chunk, so that a transfer can stop in the midst of it.
CONTENT = stream(0, "content of a file").bytes(300_000)


@dataclass(frozen=True, kw_only=True)
class Answer:
    """How one request is answered: by default as it should be, with a part of the file if that is asked for."""

    content: bytes | None = None
    etag: str | None = '"first"'
    modified: str | None = None
    encoding: str | None = None
    status: int | None = None
    location: str | None = None
    n_bytes: int | None = None  # of the body, then the connection ends …
    stalls: bool = False  # … or keeps silent
    says_length: bool = True
    heeds_range: bool = True
    heeds_version: bool = True
    shift: int = 0  # of the part that is sent against the part that was asked for


@dataclass(frozen=True)
class Asked:
    """A request as it came."""

    path: str
    headers: dict[str, str]

    @property
    def range(self) -> str | None:
        return self.headers.get("Range")


@dataclass
class Script:
    """Answers in order, then right ones for ever; ``routes`` are files beside the one that all other paths give."""

    answers: list[Answer] = field(default_factory=list)
    routes: dict[str, bytes] = field(default_factory=dict)
    asked: list[Asked] = field(default_factory=list)
    is_over: threading.Event = field(default_factory=threading.Event)
    base: str = ""

    @property
    def url(self) -> str:
        return f"{self.base}/file.bin"

    @property
    def ranges(self) -> Sequence[str | None]:
        return [asked.range for asked in self.asked]

    def next_answer(self, asked: Asked) -> Answer:
        self.asked.append(asked)
        return self.answers.pop(0) if self.answers else Answer()


class Server(ThreadingHTTPServer):
    daemon_threads = False
    block_on_close = True
    script: Script

    def handle_error(self, request, client_address):
        """Says nothing: a client that gives up is what is tested."""


class Handler(BaseHTTPRequestHandler):
    server: Server

    def do_GET(self):
        script = self.server.script
        answer = script.next_answer(Asked(self.path, dict(self.headers)))
        if answer.location is not None:
            self.send_response(302)
            self.send_header("Location", answer.location)
            self.send_header("Content-Length", "0")
            self.end_headers()
        elif answer.status is not None:
            self.send_error(answer.status)
        else:
            content = script.routes.get(self.path, CONTENT) if answer.content is None else answer.content
            self.send_file(content, answer)

    def send_file(self, content, answer):
        start = self.start(content, answer)
        if start is not None and start >= len(content):
            self.send_response(416)
            self.end_headers()
            return
        self.send_response(200 if start is None else 206)
        if start is not None:
            self.send_header("Content-Range", f"bytes {start + answer.shift}-{len(content) - 1}/{len(content)}")
        body = content[start or 0 :]
        headers = {
            "Content-Length": str(len(body)) if answer.says_length else None,
            "Content-Encoding": answer.encoding,
            "ETag": answer.etag,
            "Last-Modified": answer.modified,
        }
        for name, value in headers.items():
            if value is not None:
                self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body[: answer.n_bytes])
        self.wfile.flush()
        if answer.stalls:
            self.server.script.is_over.wait(timeout=30)

    def start(self, content, answer):
        asked = re.fullmatch(r"bytes=(\d+)-", self.headers.get("Range", ""))
        versions = (None, answer.etag, answer.modified)
        if not asked or not answer.heeds_range:
            return None
        if answer.heeds_version and self.headers.get("If-Range") not in versions:
            return None
        return int(asked[1])

    def log_message(self, *_):
        """Keeps stderr for what is tested."""


@contextmanager
def serving() -> Iterator[Script]:
    """The script of a server that runs meanwhile."""
    server = Server(("127.0.0.1", 0), Handler)
    server.script = Script(base=f"http://127.0.0.1:{server.server_address[1]}")
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield server.script
    finally:
        server.script.is_over.set()
        server.shutdown()
        server.server_close()
        thread.join()
