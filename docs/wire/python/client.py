"""A client over WebSocket: it drives a session, keeps it alive, and comes back when the transport broke."""

import asyncio
import random
import time
from urllib.parse import quote, urlsplit

import events
from session import ENDED, JOINED, Session
from websocket import Closed, WebSocket

CONNECT_TIMEOUT_S = 10
WELCOME_TIMEOUT_S = 5
KEEP_ALIVE_EVERY_S = 0.1
FIRST_WAIT_S, LONGEST_WAIT_S = 0.25, 5.0
GOODBYE_TIMEOUT_S = 5
LONGEST_RETRY_S = 24 * 3600
LONGEST_AFTER_MS = 3600 * 1000


class Client:
    """A participant of a room. Run `start` in an event loop; events collect in `log`, `until` waits for them."""

    def __init__(self, url, room, presence=b"", token=b""):
        self.room = room
        self.url = room_url(url, room)
        self.session = Session(room, presence, token)
        self.makers = {}
        self.log = []
        self.close_codes = []
        self.socket = None
        self.direct = None
        self.is_direct = False
        self.follower = None
        self.task = None
        self.changed = asyncio.Event()
        self.may_connect = asyncio.Event()
        self.may_connect.set()

    def start(self):
        """Begins to connect, in the background."""
        self.task = asyncio.get_running_loop().create_task(self._run())

    def open(self, name, **wishes):
        """Asks for a channel."""
        self.session.open(name, **wishes)
        self._transmit()

    def send(self, name, message, key=None, priority=None):
        """Sends a message, text or bytes; also while away, for when the client comes back."""
        number = self.session.send(name, message, now_us(), key, priority)
        self.session.flush(now_us())
        self._transmit()
        return number

    def shut(self, name):
        """Closes a channel."""
        self.session.shut(name, now_us())
        self._transmit()

    def provide(self, part, names, make):
        """The application makes a part of the room's snapshot, of channels that it opened, by calling `make`."""
        self.makers[part] = make
        self.session.provide(part, names)
        self._transmit()

    def set_presence(self, data):
        """Changes what the others are told of this participant."""
        self.session.set_presence(data)
        self._transmit()

    def ask_for_page(self, after=0):
        """Asks for the participants with numbers above this one."""
        self.session.ask_for_page(after)
        self._transmit()

    def cut(self, stay_away=False):
        """Breaks the transport without a goodbye; `come_back` ends a stay away."""
        if stay_away:
            self.may_connect.clear()
        if self.socket is not None:
            self.socket.abort()

    def come_back(self):
        """Lets the client connect again."""
        self.may_connect.set()

    async def leave(self):
        """Says goodbye and waits until the server has closed the transport."""
        self.session.leave(now_us())
        self._transmit()
        self.may_connect.set()
        if self.task is not None:
            if self.socket is None:
                self.task.cancel()
            await asyncio.wait({self.task}, timeout=GOODBYE_TIMEOUT_S)
            self.task.cancel()
            await asyncio.gather(self.task, return_exceptions=True)

    async def until(self, condition, timeout=10):
        """Waits until the condition holds, which is asked after each change; returns what it returned."""
        async def wait():
            while True:
                self.changed.clear()
                if result := condition():
                    return result
                await self.changed.wait()
        return await asyncio.wait_for(wait(), timeout)

    async def _run(self):
        """Connects again and again until the session has ended (README, step 8)."""
        wait = FIRST_WAIT_S
        while self.session.phase != ENDED:
            await self.may_connect.wait()
            begun_at = len(self.log)
            try:
                await self._use_transport()
            except (OSError, Closed, asyncio.TimeoutError) as error:
                self._note_end(error)
            if self.session.phase == ENDED:
                break
            if self.direct is not None:
                continue
            news = self.log[begun_at:]
            if self.session.has_lasted:
                wait = FIRST_WAIT_S
            stated = [event.retry_ms for event in news if isinstance(event, events.Broken) and event.retry_ms]
            least = min(stated[-1] / 1000, LONGEST_RETRY_S) if stated else 0
            await asyncio.sleep(wait_before_return(least, wait, random))
            if not least:
                wait = min(2 * wait, LONGEST_WAIT_S)

    async def _use_transport(self):
        """Uses one connection from its opening to its end; raises Closed then."""
        direct, self.direct = self.direct, None
        self.is_direct = direct is not None
        self.socket = direct or await asyncio.wait_for(WebSocket.connect(self.url), CONNECT_TIMEOUT_S)
        self.socket.send(self.session.opening(now_us()))
        keeper = asyncio.get_running_loop().create_task(self._keep_alive())
        try:
            while True:
                packet = await self.socket.receive()
                if not self.session.wants_close:
                    self._take(self.session.receive(packet, now_us()))
        finally:
            keeper.cancel()
            self._stop_following()
            self.socket.abort()
            self.socket = None

    def _follow(self, owner):
        """Begins to move to the server that has the room (W117)."""
        url = owner_url(self.url, owner.address, self.room)
        if url is not None and not self.is_direct:
            self._stop_following()
            self.follower = asyncio.get_running_loop().create_task(self._move(owner.after_ms, url))

    def _stop_following(self):
        if self.follower is not None:
            self.follower.cancel()
            self.follower = None

    async def _move(self, after_ms, url):
        """Opens a connection beside the one in use, which ends once the other is open."""
        await asyncio.sleep(min(after_ms, LONGEST_AFTER_MS) / 1000)
        try:
            self.direct = await asyncio.wait_for(WebSocket.connect(url), CONNECT_TIMEOUT_S)
        except (OSError, Closed, asyncio.TimeoutError):
            return  # The session stays where it is.
        self.follower = None
        self.socket.abort()

    async def _keep_alive(self):
        """Sends pings, notices silence, and a server that does not answer the opening or the goodbye."""
        begun = now_us()
        while True:
            await asyncio.sleep(KEEP_ALIVE_EVERY_S)
            self._take(self.session.keep_alive(now_us()))
            is_stuck = self.session.phase != JOINED and self.session.welcomed_at is None
            if is_stuck and now_us() - begun > WELCOME_TIMEOUT_S * 1_000_000:
                self.socket.abort()
            if self.session.wants_close and now_us() - self.session.last_heard > GOODBYE_TIMEOUT_S * 1_000_000:
                self.socket.abort()

    def _take(self, news):
        """Passes on events in their order, and sends what the session answers."""
        for event in news:
            self.log.append(event)
            if isinstance(event, events.Owner):
                self._follow(event)
            if isinstance(event, events.SnapshotWanted):
                self.session.give_snapshot(event.part, event.as_of, self.makers[event.part]())
        self._transmit()
        if self.session.wants_close and self.socket is not None:
            self.socket.close()
        self.changed.set()

    def _transmit(self):
        """Hands the session's packets to the transport; without one they are not needed any more."""
        packets = self.session.take_packets()
        if self.socket is not None:
            for packet in packets:
                self.socket.send(packet)

    def _note_end(self, error):
        """Tells the session that its transport is gone."""
        if isinstance(error, Closed):
            self.close_codes.append(error.code)
        for event in self.session.transport_ended(now_us()):
            self.log.append(event)
        self.changed.set()


def wait_before_return(stated, bound, source):
    """Seconds until a client connects again: what the server stated (W36), or up to the bound (W37); a random part spreads clients."""
    return stated + source.uniform(0, FIRST_WAIT_S) if stated else source.uniform(0, bound)


def room_url(url, room):
    """The address of the WebSocket of a server, for a room (README, Transports)."""
    path = urlsplit(url).path
    base = url.rstrip("/") + ("/ws" if path in ("", "/") else "")
    return f"{base}?room={quote(room, safe='')}"


def owner_url(own, address, room):
    """The address of the WebSocket of the server that has the room; None if the client does not go there (W117)."""
    scheme = {"https": "wss", "http": "ws"}.get(urlsplit(address).scheme)
    if scheme is None or (urlsplit(own).scheme == "wss" and scheme == "ws"):
        return None
    return f"{scheme}:{address.split(':', 1)[1].rstrip('/')}/ws?room={quote(room, safe='')}"


def now_us():
    """Microseconds of a clock that never goes back."""
    return time.monotonic_ns() // 1000
