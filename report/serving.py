"""The site over http on this machine, for whoever looks at it."""

from __future__ import annotations

import errno
import io
from functools import partial
from http import HTTPStatus
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import BinaryIO

from lake.errors import Exit, GoldspanError

HOST = "127.0.0.1"


class _Handler(SimpleHTTPRequestHandler):
    def send_head(self) -> io.BytesIO | BinaryIO | None:
        try:
            return super().send_head()
        except ValueError:
            # No file can have such a name: a null byte, or half a surrogate pair.
            self.send_error(HTTPStatus.NOT_FOUND)
            return None


def server_of(site: Path, port: int) -> ThreadingHTTPServer:
    """A server of a site on this machine alone; not started."""
    if not (site / "index.html").is_file():
        raise GoldspanError(f"{site} holds no site", hint="Build it first: make report", code=Exit.MISSING)
    try:
        return ThreadingHTTPServer((HOST, port), partial(_Handler, directory=str(site)))
    except OSError as error:
        is_busy = error.errno == errno.EADDRINUSE
        message = f"port {port} {'is in use' if is_busy else f'cannot be had: {error.strerror}'}"
        raise GoldspanError(message, hint="Choose another: make serve PORT=8001") from error
