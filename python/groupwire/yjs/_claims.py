"""Decides who sends a long update that several participants have, after the server has lost the
room or when a participant lacks what the room no longer has. Each of them makes a *claim*, and the
first in the room's order *leads*: it sends the update and says when that is done. The next one then
sends what is still missing. All see the same order, so no timer is needed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Optional

# The most questions that are remembered.
MAX_ASKS = 1000


@dataclass
class Claim:
    sender: int
    is_own: bool
    #: The number of asks at the time when the claim became the first one.
    asks: Optional[int] = None


@dataclass
class Ask:
    """A request for updates that the room no longer has."""

    sender: int
    is_own: bool
    state: bytes
    #: True once this program has sent what it has.
    is_answered: bool = False


class Claims:
    def __init__(self) -> None:
        self._claims: list[Claim] = []
        self._asks: list[Ask] = []
        self._has_led = False
        #: This program has made a claim that is not done.
        self.is_waiting = False

    @property
    def leads(self) -> bool:
        """True if this program is to send now."""
        return bool(self._claims) and self._claims[0].is_own and not self._has_led

    @property
    def asked(self) -> list[bytes]:
        """The state vectors of others whom this program has not answered."""
        return [ask.state for ask in self._asks if not ask.is_own and not ask.is_answered]

    def led(self) -> None:
        """Called when this program has sent its update."""
        self._has_led = True
        for ask in self._asks:
            ask.is_answered = True

    def claim(self, sender: int, is_own: bool) -> None:
        # A program claims again only when its claim has ended.
        if all(claim.sender != sender for claim in self._claims):
            self._claims.append(Claim(sender, is_own))
        self._advance()

    def ask(self, sender: int, is_own: bool, state: bytes) -> None:
        if len(self._asks) < MAX_ASKS:
            self._asks.append(Ask(sender, is_own, state))

    def done(self, sender: int, is_complete: bool) -> bool:
        """Ends the claim of a participant that has sent its update. If that ``is_complete``, the
        earlier asks are answered. Returns True if one of them is this program's."""
        first = self._claims[0] if self._claims else None
        if first is None or first.sender != sender:
            self._claims = [claim for claim in self._claims if claim.sender != sender]
            return False
        if first.is_own:
            self._end_own()
        self._claims.pop(0)
        answered: list[Ask] = []
        if is_complete:
            count = first.asks or 0
            answered, self._asks = self._asks[:count], self._asks[count:]
        self._advance()
        return any(ask.is_own for ask in answered)

    def departed(self, sender: int) -> bool:
        """Called when the room has forgotten a participant. Returns True if that ends a claim or an
        ask of this program."""
        claims = [claim for claim in self._claims if claim.sender == sender]
        asks = [ask for ask in self._asks if ask.sender == sender]
        if any(claim.is_own for claim in claims):
            self._end_own()
        self._claims = [claim for claim in self._claims if claim.sender != sender]
        self._asks = [ask for ask in self._asks if ask.sender != sender]
        self._advance()
        return any(claim.is_own for claim in claims) or any(ask.is_own for ask in asks)

    def disown(self) -> None:
        """Called when the server has forgotten this participant: its claims now belong to an old
        participant, which will leave."""
        for claim in self._claims:
            claim.is_own = False
        self._end_own()

    def clear(self) -> None:
        """The room begins anew."""
        self.forget()
        self._asks = []

    def forget(self) -> None:
        """Forgets all claims after a gap in the history, which may contain claims and their ends."""
        self._claims = []
        self._end_own()

    def _end_own(self) -> None:
        self.is_waiting = False
        self._has_led = False

    def _advance(self) -> None:
        if self._claims and self._claims[0].asks is None:
            self._claims[0].asks = len(self._asks)
