"""What can be wrong on the wire: the error codes of W37, and what a client does about each."""

VERSION, MALFORMED, UNSUPPORTED, TOO_LARGE, TOO_MANY, INVALID_TEXT = 1, 2, 3, 4, 5, 6
UNKNOWN_CHANNEL, NOT_ALLOWED, REFUSED, INVALID_QOS, COMPRESSION = 7, 8, 9, 10, 11
SILENT, STALLED, REPLACED, INVALID_COMPRESSION, NOT_CHANGED, NOT_NOW, PART_REFUSED = 12, 13, 14, 15, 16, 17, 18
EXPIRED, REVOKED, BANNED, OVER_QUOTA = 19, 20, 21, 22

FAULT_PEER, FAULT_INCOMPATIBLE, FAULT_LIMIT, FAULT_REFUSED, FAULT_SELF = 0, 1, 2, 3, 4

FAULTS = {
    VERSION: FAULT_INCOMPATIBLE, MALFORMED: FAULT_PEER, UNSUPPORTED: FAULT_INCOMPATIBLE, TOO_LARGE: FAULT_LIMIT,
    TOO_MANY: FAULT_LIMIT, INVALID_TEXT: FAULT_PEER, UNKNOWN_CHANNEL: FAULT_PEER, NOT_ALLOWED: FAULT_PEER,
    REFUSED: FAULT_REFUSED, INVALID_QOS: FAULT_SELF, COMPRESSION: FAULT_PEER, SILENT: FAULT_PEER,
    STALLED: FAULT_PEER, REPLACED: FAULT_SELF, INVALID_COMPRESSION: FAULT_SELF, NOT_CHANGED: FAULT_REFUSED,
    NOT_NOW: FAULT_LIMIT, PART_REFUSED: FAULT_REFUSED, EXPIRED: FAULT_REFUSED, REVOKED: FAULT_REFUSED,
    BANNED: FAULT_REFUSED, OVER_QUOTA: FAULT_LIMIT,
}
# This client has one token, so an expired or revoked one ends its session (W98).
CODES_THAT_END = {VERSION, UNSUPPORTED, REFUSED, REPLACED, EXPIRED, REVOKED, BANNED}
FAULTS_THAT_END = {FAULT_INCOMPATIBLE, FAULT_REFUSED}
MISUNDERSTANDINGS = {MALFORMED, TOO_LARGE, TOO_MANY, INVALID_TEXT, UNKNOWN_CHANNEL, NOT_ALLOWED, COMPRESSION}


class WireError(Exception):
    """Bytes that break a rule; `code` is the number that an ERROR frame names."""

    def __init__(self, code, detail):
        super().__init__(f"error {code}: {detail}")
        self.code = code
        self.detail = detail


def malformed(detail):
    """The most frequent error: bytes that no rule allows."""
    return WireError(MALFORMED, detail)


def ends_session(code, fault):
    """Tells whether a client gives up after a fatal error; otherwise it resumes. Unknown codes go by their fault."""
    if code in FAULTS:
        return code in CODES_THAT_END
    return fault in FAULTS_THAT_END
