//! A ban keeps a user or a token out of rooms whose names match a pattern, for a time or for good.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};

use crate::access::{Admission, Refusal};
use crate::tools::pattern::matches;

/// The most bytes of a user, a token's name or a pattern of rooms: as many as `sub` and a room's
/// name may have.
const LONGEST: usize = 256;

/// The most bytes of a reason, which fits into an error on the wire.
const LONGEST_REASON: usize = 256;

/// The longest time of a ban that ends, in seconds: a hundred years.
const LONGEST_TIME: u64 = 100 * 366 * 24 * 3600;

/// The part of an admission that bans are checked against.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Pass {
    pub(super) user: String,
    /// The name of the token (`jti`), if it has one.
    pub(super) token: Option<String>,
    /// The time at which the token was issued (`iat`), as Unix time in seconds, if the token states
    /// it.
    pub(super) issued: Option<u64>,
}

impl Pass {
    /// The pass of an admitted client. `None` if it has neither a user nor a token's name, so that
    /// no ban can name it.
    pub(crate) fn of(admission: &Admission) -> Option<Self> {
        let user = admission.identity.user().unwrap_or_default().to_owned();
        let token = admission.token_id.clone();
        let is_known = !user.is_empty() || token.is_some();
        is_known.then(|| Pass { user, token, issued: admission.issued.map(unix) })
    }
}

/// The ban that a request of the administration describes.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct NewBan {
    /// The user (`sub`). A request has either this or `token`.
    pub(crate) user: Option<String>,
    /// The name of a token (`jti`).
    pub(crate) token: Option<String>,
    /// Only the user's tokens that were issued (`iat`) before this Unix time, in seconds.
    #[serde(default)]
    pub(crate) issued_before: Option<u64>,
    /// A pattern of names of rooms. Default: all.
    #[serde(default = "all_rooms")]
    pub(crate) room: String,
    /// How long it lasts. Default: until it is removed.
    #[serde(default)]
    pub(crate) seconds: Option<u64>,
    /// What the user is told.
    #[serde(default)]
    pub(crate) reason: Option<String>,
}

fn all_rooms() -> String {
    "*".to_owned()
}

/// A user or a token that is kept out.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Ban {
    /// The number by which it is removed. No other ban of this list ever had it.
    pub(crate) id: u64,
    pub(crate) user: Option<String>,
    pub(crate) token: Option<String>,
    pub(crate) issued_before: Option<u64>,
    pub(crate) room: String,
    /// The Unix time at which it was made, in seconds.
    pub(crate) since: u64,
    /// The Unix time at which it ends, in seconds; `None` if it does not.
    pub(crate) until: Option<u64>,
    pub(crate) reason: Option<String>,
}

impl Ban {
    /// # Errors
    /// What is wrong with the request, for the operator.
    pub(super) fn new(id: u64, now: u64, wanted: NewBan) -> Result<Self, &'static str> {
        let NewBan { user, token, issued_before, room, seconds, reason } = wanted;
        let is_text = |text: &String| !text.is_empty() && text.len() <= LONGEST;
        match (&user, &token) {
            (Some(_), Some(_)) | (None, None) => {
                return Err("write either user or token: whom the ban is for");
            }
            (Some(user), None) if !is_text(user) => return Err("user: write 1 to 256 bytes"),
            (None, Some(token)) if !is_text(token) => return Err("token: write 1 to 256 bytes"),
            (None, Some(_)) if issued_before.is_some() => {
                return Err("issued_before: it is for a user, not for one token");
            }
            _ => {}
        }
        if !is_text(&room) {
            return Err("room: write 1 to 256 bytes, in which a star stands for any text");
        }
        if seconds.is_some_and(|seconds| seconds == 0 || seconds > LONGEST_TIME) {
            return Err("seconds: write 1 to 3162240000, or leave it out for no end");
        }
        if reason.as_ref().is_some_and(|reason| reason.len() > LONGEST_REASON) {
            return Err("reason: write at most 256 bytes");
        }
        let until = seconds.map(|seconds| now + seconds);
        Ok(Ban { id, user, token, issued_before, room, since: now, until, reason })
    }

    /// True if its time is over.
    pub(super) fn is_over(&self, now: u64) -> bool {
        self.until.is_some_and(|until| until <= now)
    }

    /// Why a client whose user or token the ban names may not be in a room; `None` if it may.
    pub(super) fn refuses(&self, room: &str, pass: &Pass, now: u64) -> Option<Refusal> {
        let is_newer = match (self.issued_before, pass.issued) {
            // A token without `iat` counts as issued before, because the time of its issue is
            // unknown.
            (None, _) | (Some(_), None) => false,
            (Some(before), Some(issued)) => issued >= before,
        };
        if self.is_over(now) || is_newer || !matches(&self.room, room) {
            return None;
        }
        if self.token.is_some() || self.issued_before.is_some() {
            return Some(Refusal::Revoked);
        }
        let lasts = match self.until {
            Some(until) => format!("for {} s", until - now),
            None => "for good".to_owned(),
        };
        Some(Refusal::Banned(match &self.reason {
            Some(reason) => format!("{lasts}: {reason}"),
            None => lasts,
        }))
    }
}

/// Unix time in seconds. A clock before 1970 counts as 1970.
pub(super) fn unix(time: SystemTime) -> u64 {
    time.duration_since(UNIX_EPOCH).unwrap_or(Duration::ZERO).as_secs()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ban(wanted: NewBan) -> Ban {
        Ban::new(1, 1000, NewBan { room: "docs/*".into(), ..wanted }).unwrap()
    }

    fn ann(issued: Option<u64>) -> Pass {
        Pass { user: "ann".into(), token: Some("t1".into()), issued }
    }

    #[test]
    fn a_user_is_banned_until_the_end_in_rooms_of_the_pattern() {
        let wanted = NewBan {
            user: Some("ann".into()),
            seconds: Some(60),
            reason: Some("spam".into()),
            ..NewBan::default()
        };
        let ban = ban(wanted);
        let refused = |room, now| ban.refuses(room, &ann(None), now);
        assert_eq!(refused("docs/a", 1010), Some(Refusal::Banned("for 50 s: spam".into())));
        assert_eq!((refused("game", 1010), refused("docs/a", 1060)), (None, None));
    }

    #[test]
    fn tokens_issued_before_are_revoked_and_those_of_unknown_age_with_them() {
        let wanted =
            NewBan { user: Some("ann".into()), issued_before: Some(900), ..NewBan::default() };
        let ban = ban(wanted);
        let refused = |issued| ban.refuses("docs/a", &ann(issued), 2000);
        assert_eq!(refused(Some(899)), Some(Refusal::Revoked));
        assert_eq!(refused(None), Some(Refusal::Revoked));
        assert_eq!(refused(Some(900)), None);
    }

    #[test]
    fn what_makes_no_sense_is_refused() {
        let user = || Some("ann".to_owned());
        let new = NewBan { room: "*".into(), ..NewBan::default() };
        let wrong = [
            NewBan { ..new.clone() },
            NewBan { user: user(), token: user(), ..new.clone() },
            NewBan { user: Some(String::new()), ..new.clone() },
            NewBan { user: Some("x".repeat(257)), ..new.clone() },
            NewBan { token: user(), issued_before: Some(1), ..new.clone() },
            NewBan { user: user(), room: String::new(), ..new.clone() },
            NewBan { user: user(), seconds: Some(0), ..new.clone() },
            NewBan { user: user(), seconds: Some(u64::MAX), ..new.clone() },
            NewBan { user: user(), reason: Some("x".repeat(257)), ..new.clone() },
        ];
        for wanted in wrong {
            assert!(Ban::new(1, 0, wanted.clone()).is_err(), "{wanted:?}");
        }
        assert!(Ban::new(1, 0, NewBan { user: user(), ..new }).is_ok());
    }
}
