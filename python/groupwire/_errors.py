"""The exceptions of this package: ours, and at the same time Python's of that kind."""

from __future__ import annotations

from typing import Literal

Fault = Literal["peer", "incompatible", "limit", "refused", "own"]


class GroupwireError(Exception):
    """An error. Its text says what is wrong and what to do.

    ``code`` is a short word for programs, such as ``"too-large"``; ``number`` is its number on the
    wire or, from 100 on, in this library. ``fault`` says who has to change something.
    """

    code: str
    number: int
    fault: Fault

    def __init__(self, code: str, number: int, fault: Fault, text: str) -> None:
        super().__init__(text)
        self.code = code
        self.number = number
        self.fault = fault
        self._text = text

    def __str__(self) -> str:
        return f"{self._text} ({self.code})"

    def __reduce__(self) -> tuple[type[GroupwireError], tuple[str, int, Fault, str]]:
        return type(self), (self.code, self.number, self.fault, self._text)


class InvalidArgumentError(GroupwireError, ValueError):
    """An argument is wrong, or above a limit."""


class UnreachableError(GroupwireError, ConnectionError):
    """The server cannot be reached, or does not answer."""


class ClosedError(GroupwireError, ConnectionError):
    """The room was left or has ended, or belongs to the process that forked this one."""


class RefusedError(GroupwireError, PermissionError):
    """The server refused."""


class TokenError(RefusedError):
    """The token has expired or was revoked, or the function that gives tokens has failed."""


class NotNowError(GroupwireError, BlockingIOError):
    """Too many messages wait: try again later."""


_CLASSES: dict[str, type[GroupwireError]] = {
    "invalid-argument": InvalidArgumentError,
    "invalid-qos": InvalidArgumentError,
    "invalid-compress": InvalidArgumentError,
    "invalid-text": InvalidArgumentError,
    "too-large": InvalidArgumentError,
    "too-many": InvalidArgumentError,
    "bad-name": InvalidArgumentError,
    "bad-key": InvalidArgumentError,
    "not-json": InvalidArgumentError,
    "bad-argument": InvalidArgumentError,
    "unreachable": UnreachableError,
    "silent": UnreachableError,
    "stalled": UnreachableError,
    "closed": ClosedError,
    "forked": ClosedError,
    "replaced": ClosedError,
    "refused": RefusedError,
    "banned": RefusedError,
    "not-allowed": RefusedError,
    "over-quota": RefusedError,
    "not-sent": RefusedError,
    "expired": TokenError,
    "revoked": TokenError,
    "token": TokenError,
    "not-now": NotNowError,
}

# The numbers of the errors that only this package has.
TOKEN = 120


def exception_of(code: str, number: int, fault: Fault, text: str) -> GroupwireError:
    """The exception of the class that belongs to the code. The native part calls this, too."""
    return _CLASSES.get(code, GroupwireError)(code, number, fault, text)


def invalid(text: str) -> GroupwireError:
    return exception_of("invalid-argument", 100, "own", text)


def closed(text: str = "the room is closed: connect again") -> GroupwireError:
    return exception_of("closed", 102, "own", text)


def token_failed(cause: BaseException) -> GroupwireError:
    text = f"the function that gives tokens has failed: {type(cause).__name__}: {cause}"
    return exception_of("token", TOKEN, "own", text)
