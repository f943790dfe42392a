"""The client side of WebSocket (RFC 6455) over asyncio: binary messages, no extensions, no subprotocol."""

import asyncio
import base64
import hashlib
import os
import ssl
from urllib.parse import urlsplit

GUID = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
CONTINUATION, TEXT, BINARY, CLOSE, PING, PONG = 0x0, 0x1, 0x2, 0x8, 0x9, 0xA
FIN, MASKED = 0x80, 0x80
LARGEST_MESSAGE = 65_536
LONGEST_CONTROL = 125
NORMAL, PROTOCOL_ERROR, UNSUPPORTED_DATA, TOO_LARGE, NO_CLOSE_FRAME = 1000, 1002, 1003, 1009, 1006


class Closed(Exception):
    """The WebSocket is gone; `code` is that of the close frame, 1006 if none came."""

    def __init__(self, code, detail=""):
        super().__init__(f"closed with code {code} {detail}".strip())
        self.code = code


class WebSocket:
    """One connection; `connect` makes it."""

    def __init__(self, reader, writer):
        self.reader = reader
        self.writer = writer
        self.close_sent = False

    @classmethod
    async def connect(cls, url):
        """Opens a connection and does the handshake; raises OSError or Closed if that fails."""
        parts = urlsplit(url)
        is_secure = parts.scheme == "wss"
        port = parts.port or (443 if is_secure else 80)
        context = ssl.create_default_context() if is_secure else None
        reader, writer = await asyncio.open_connection(parts.hostname, port, ssl=context)
        try:
            await handshake(reader, writer, parts)
        except BaseException:
            writer.transport.abort()
            raise
        return cls(reader, writer)

    async def receive(self):
        """Returns the next binary message; answers pings, and raises Closed at the end."""
        message = None
        try:
            while True:
                is_final, opcode, payload = await self._read_frame()
                if opcode >= CLOSE:
                    self._control(opcode, payload)
                    continue
                if (opcode == CONTINUATION) != (message is not None):
                    raise self._fail(PROTOCOL_ERROR, "a fragment out of place")
                if opcode not in (CONTINUATION, BINARY):
                    raise self._fail(UNSUPPORTED_DATA, "not a binary message")
                message = (message or b"") + payload
                if len(message) > LARGEST_MESSAGE:
                    raise self._fail(TOO_LARGE, "a message that is too large")
                if is_final:
                    return message
        except (OSError, asyncio.IncompleteReadError) as error:
            raise Closed(NO_CLOSE_FRAME, str(error)) from None

    def send(self, message):
        """Sends a binary message; the connection's buffer takes it."""
        if not self.close_sent and not self.writer.is_closing():
            self.writer.write(frame(BINARY, message))

    def close(self, code=NORMAL):
        """Sends a close frame; `receive` then raises Closed when the server's answer came."""
        if not self.close_sent and not self.writer.is_closing():
            self.writer.write(frame(CLOSE, code.to_bytes(2, "big")))
        self.close_sent = True

    def abort(self):
        """Cuts the connection without a goodbye."""
        self.writer.transport.abort()

    async def _read_frame(self):
        """Reads one frame of the server, which is never masked."""
        first, second = await self.reader.readexactly(2)
        if first & 0x70 or second & MASKED:
            raise self._fail(PROTOCOL_ERROR, "a reserved bit or a mask")
        length = second & 0x7F
        if first & 0x08 and (length > LONGEST_CONTROL or not first & FIN):
            raise self._fail(PROTOCOL_ERROR, "a control frame that is too long or in fragments")
        if length > LONGEST_CONTROL:
            length = int.from_bytes(await self.reader.readexactly(2 if length == 126 else 8), "big")
        if length > LARGEST_MESSAGE:
            raise self._fail(TOO_LARGE, "a frame that is too large")
        return bool(first & FIN), first & 0x0F, await self.reader.readexactly(length)

    def _control(self, opcode, payload):
        """Answers a ping, and ends the connection on a close frame."""
        if opcode == PING:
            if not self.close_sent and not self.writer.is_closing():
                self.writer.write(frame(PONG, payload))
        elif opcode == CLOSE:
            code = int.from_bytes(payload[:2], "big") if len(payload) >= 2 else 1005
            self.close(code if len(payload) >= 2 else NORMAL)
            self.writer.close()
            raise Closed(code, payload[2:].decode(errors="replace"))
        elif opcode != PONG:
            raise self._fail(PROTOCOL_ERROR, "an unknown frame")

    def _fail(self, code, detail):
        """Closes because the server broke a rule of WebSocket."""
        self.close(code)
        self.writer.close()
        return Closed(code, detail)


async def handshake(reader, writer, parts):
    """Asks for the upgrade from HTTP, and checks the answer."""
    key = base64.b64encode(os.urandom(16)).decode()
    target = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    lines = [f"GET {target} HTTP/1.1", f"Host: {parts.netloc.rpartition('@')[2]}", "Upgrade: websocket",
             "Connection: Upgrade", f"Sec-WebSocket-Key: {key}", "Sec-WebSocket-Version: 13", "", ""]
    writer.write("\r\n".join(lines).encode())
    try:
        answer = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
    except (asyncio.IncompleteReadError, asyncio.LimitOverrunError) as error:
        raise Closed(NO_CLOSE_FRAME, f"no answer to the upgrade: {error}") from None
    headers = {name.strip().lower(): value.strip() for name, _, value in (line.partition(":") for line in answer[1:])}
    expected = base64.b64encode(hashlib.sha1((key + GUID).encode()).digest()).decode()
    if answer[0].split(" ")[1:2] != ["101"]:
        raise Closed(NO_CLOSE_FRAME, f"the server answered {answer[0]!r}")
    if headers.get("upgrade", "").lower() != "websocket" or headers.get("sec-websocket-accept") != expected:
        raise Closed(NO_CLOSE_FRAME, "the answer to the upgrade is not that of a WebSocket")


def frame(opcode, payload):
    """Writes one frame of a client, which is always masked."""
    length = len(payload)
    if length <= LONGEST_CONTROL:
        head = bytes([FIN | opcode, MASKED | length])
    elif length < 1 << 16:
        head = bytes([FIN | opcode, MASKED | 126]) + length.to_bytes(2, "big")
    else:
        head = bytes([FIN | opcode, MASKED | 127]) + length.to_bytes(8, "big")
    mask = os.urandom(4)
    return head + mask + apply_mask(payload, mask)


def apply_mask(payload, mask):
    """Exclusive or of each byte with the mask, over and over."""
    if not payload:
        return b""
    stream = (mask * (len(payload) // 4 + 1))[:len(payload)]
    masked = int.from_bytes(payload, "big") ^ int.from_bytes(stream, "big")
    return masked.to_bytes(len(payload), "big")
