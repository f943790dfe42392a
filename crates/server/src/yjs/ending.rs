//! The reasons that y-websocket's client is given when its connection is closed: after the codes
//! 4400 to 4499 it stays away, after all others it tries again.

use groupwire_session::{Error, Fault};

/// The code and the text of a WebSocket's close frame.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Ending {
    pub(super) code: u16,
    pub(super) reason: String,
}

/// The longest reason: a control frame has at most 125 bytes, two of which are the code (RFC 6455,
/// section 5.5).
const LONGEST_REASON: usize = 123;

const TOO_LARGE: u16 = 4413;

impl Ending {
    /// The client broke a rule, and would break it again.
    pub(super) fn malformed(why: impl ToString) -> Self {
        Ending::new(4400, why)
    }

    /// The client sends more than permitted, and would send it again.
    pub(super) fn too_large(why: impl ToString) -> Self {
        Ending::new(TOO_LARGE, why)
    }

    /// An administrator has emptied the document: the client, which still has it, is to stay away.
    pub(super) fn emptied() -> Self {
        Ending::new(4410, "an administrator has emptied the document")
    }

    /// The client may try again soon.
    pub(super) fn not_now(why: impl ToString) -> Self {
        Ending::new(4503, why)
    }

    /// The server, or what it holds of the document, is replaced: the client may come back at once
    /// (1012, service restart).
    pub(super) fn restart() -> Self {
        Ending::new(1012, "connect again")
    }

    /// Why a client may not come in.
    pub(super) fn refused(error: &Error) -> Self {
        match error {
            Error::Expired | Error::Revoked => Ending::new(4401, error),
            _ => Ending::of(error),
        }
    }

    /// Why a client may not stay. The program may have put another token into `provider.params`
    /// than the one that has expired.
    pub(super) fn of(error: &Error) -> Self {
        let code = match (error, error.fault()) {
            (Error::Expired, _) => 4501,
            (Error::Revoked, _) => 4401,
            (Error::TooLarge { .. }, _) => TOO_LARGE,
            (_, Fault::Refused) => 4403,
            (_, Fault::Limit) => 4503,
            _ => 4400,
        };
        Ending::new(code, error)
    }

    /// True if the client stays away, so that it should be told the reason in words that it shows.
    pub(super) fn is_final(&self) -> bool {
        (4400..4500).contains(&self.code)
    }

    /// True if the client sent more than a limit permits.
    pub(super) fn is_too_large(&self) -> bool {
        self.code == TOO_LARGE
    }

    fn new(code: u16, reason: impl ToString) -> Self {
        let mut reason = reason.to_string();
        let end = (0..=LONGEST_REASON.min(reason.len())).rev();
        let end = end.into_iter().find(|&end| reason.is_char_boundary(end));
        reason.truncate(end.unwrap_or_default());
        Ending { code, reason }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clients_stay_away_if_trying_again_does_not_help() {
        let stays_away = |error: Error| Ending::refused(&error).is_final();
        assert!(stays_away(Error::Refused { why: "no".into() }));
        assert!(stays_away(Error::Banned { why: "for ever".into() }));
        assert!(stays_away(Error::Expired) && stays_away(Error::Revoked));
        assert!(stays_away(Error::TooLarge { what: "update", size: 2, limit: 1 }));
        assert!(!stays_away(Error::NotNow { what: "busy" }));
        assert!(!stays_away(Error::TooMany { what: "documents", limit: 1 }));
        assert!(!Ending::restart().is_final());
        assert!(!Ending::of(&Error::Expired).is_final(), "it may have another token by now");
        assert!(Ending::of(&Error::Revoked).is_final());
    }

    #[test]
    fn a_long_reason_is_cut_between_characters() {
        let reason = Ending::malformed("é".repeat(100)).reason;
        assert_eq!(reason, "é".repeat(61));
        assert_eq!(Ending::malformed("short").reason, "short");
    }
}
