"""A server for tests."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import threading
import urllib.request
from typing import IO, Any, Optional

from .._errors import GroupwireError, exception_of

# The number of the error that only this module has.
NO_SERVER = 123

# A request to the administration of a server on this machine: it waits for nothing.
REQUEST_S = 30.0


class Server:
    """A running ``groupwire serve`` on free ports of this machine::

        with Server("--tick", "0") as server:
            ...  # groupwire.connect(server.url, "demo")

    ``options`` are those of ``groupwire serve``. ``binary`` is the program; without it the variable
    ``GROUPWIRE_BINARY`` names it, or it is ``groupwire`` on the ``PATH``.

    Raises ``GroupwireError`` with the code ``no-server`` if there is no such program, or if it does
    not start.
    """

    def __init__(self, *options: str, binary: Optional[str] = None) -> None:
        self._options = options
        self._binary = binary or os.environ.get("GROUPWIRE_BINARY") or shutil.which("groupwire")
        self.process: subprocess.Popen[str]
        #: Host and port of ``url``, which stay the same after ``start``.
        self.address: str
        self._administration: Optional[tuple[str, str]] = None
        self._start("127.0.0.1:0")

    @property
    def url(self) -> str:
        """The address for ``groupwire.connect``: WebSocket."""
        return f"ws://{self.address}"

    @property
    def webtransport(self) -> str:
        """The address for WebTransport, which has datagrams."""
        return f"https://{self.address}"

    @property
    def log(self) -> str:
        """The output of the server since its last start."""
        return "".join(self._printed)

    def kill(self) -> None:
        """Kills the server, as a crash does."""
        self.process.kill()
        self.process.wait()
        self._drain.join()

    def stop(self) -> None:
        """Ends the server. Raises ``AssertionError`` if it ended before by itself."""
        code = self.process.poll()
        self.kill()
        assert code is None, f"the server ended with {code}:\n{self.log}"

    def start(self) -> None:
        """Starts a server that was stopped again, at the same address. Rooms in memory begin anew;
        with the option ``--data`` they keep what was confirmed."""
        self._start(self.address)

    def restart(self) -> None:
        """Kills the server, and starts it again."""
        self.stop()
        self.start()

    def administer(self, method: str, path: str, body: Any = None) -> Any:
        """Sends a request to the administration of the server, such as
        ``administer("DELETE", "/api/rooms/demo/participants/2")`` (docs/operations/administration.md).
        ``body`` and the answer are JSON; None stands for none."""
        if self._administration is None:
            raise no_server("the server has no administration: start it without --no-admin")
        address, token = self._administration
        headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(address + path, data, headers, method=method)
        # A proxy in the environment must not get requests to this machine.
        direct = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        with direct.open(request, timeout=REQUEST_S) as answer:
            text = answer.read()
        return json.loads(text) if text else None

    def __enter__(self) -> Server:
        return self

    def __exit__(self, *_error: Any) -> None:
        self.stop()

    def _start(self, listen: str) -> None:
        if not self._binary:
            text = "there is no program groupwire: put it on the PATH, or name it in GROUPWIRE_BINARY"
            raise no_server(text)
        command = [self._binary, "serve", "--listen", listen, *self._options]
        try:
            pipes: dict[str, Any] = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
            self.process = subprocess.Popen(command, text=True, **pipes)
        except OSError as error:
            raise no_server(f"{self._binary} cannot be run: {error}") from error
        output = self.process.stdout
        assert output is not None
        printed = ""
        # The server prints these lines as soon as it listens, that of the administration second.
        for line in output:
            printed += line
            public = re.search(r"http://(127\.0\.0\.1:\d+)/\?", line)
            inspector = re.search(r"(http://127\.0\.0\.1:\d+)/inspector/#token=(\S+)", line)
            if public:
                self.address = public[1]
                if "--no-admin" in self._options:
                    break
            if inspector:
                self._administration = (inspector[1], inspector[2])
                break
        else:
            self.process.wait()
            output.close()
            raise no_server(f"{self._binary} did not start:\n{printed}")
        # A full pipe would stop the server.
        self._printed: list[str] = [printed]
        self._drain = threading.Thread(target=drain, args=(output, self._printed), daemon=True)
        self._drain.start()


def no_server(text: str) -> GroupwireError:
    return exception_of("no-server", NO_SERVER, "own", text)


def drain(output: IO[str], printed: list[str]) -> None:
    with output:
        printed.extend(output)
