//! The secrets by which participants resume their sessions (wire W13).

use core::fmt::Debug;

use crate::{ParticipantId, Secret};

/// The session of one participant of one incarnation of a room.
#[non_exhaustive]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SessionName<'a> {
    /// The name of the room.
    pub room: &'a str,
    /// The incarnation of the room.
    pub incarnation: u64,
    /// The number of the participant.
    pub participant: ParticipantId,
    /// The participant's [subject](crate::Identity::subject).
    pub identity: &'a [u8],
}

impl<'a> SessionName<'a> {
    /// The name of this session. Rooms make names themselves; an implementation of [`Secrets`]
    /// needs this for its tests.
    pub fn new(
        room: &'a str,
        incarnation: u64,
        participant: ParticipantId,
        identity: &'a [u8],
    ) -> Self {
        SessionName { room, incarnation, participant, identity }
    }
}

/// Makes and checks the secrets of sessions. A secret is a function of the session's name and of a
/// key that only servers know, so a server can check it without a table, also after a restart.
///
/// A server uses a message authentication code, such as HMAC, over all fields of the name with
/// their lengths.
pub trait Secrets: Debug {
    /// The secret of a session. It is the same whenever it is asked for, as long as the key stays
    /// the same.
    fn secret(&self, session: &SessionName<'_>) -> Secret;

    /// True if a client that presents `secret` may resume the session. An implementation whose key
    /// changes also permits secrets of the key before, for a while; see [`is_same`].
    fn permits(&self, session: &SessionName<'_>, secret: &Secret) -> bool {
        is_same(&self.secret(session), secret)
    }
}

/// Compares two secrets in constant time, so that an attacker cannot measure how many bytes were
/// right.
#[must_use]
pub fn is_same(one: &Secret, two: &Secret) -> bool {
    one.iter().zip(two).fold(0, |difference, (one, two)| difference | (one ^ two)) == 0
}
