//! The server's authorisation: who a participant is, and what it may do with the channels of its
//! room (wire W11, W16, W17).

use alloc::string::{String, ToString};
use alloc::vec::Vec;

use crate::limits::MAX_USER;
use crate::{Access, Qos, Quota};

/// The identity of a participant, which the server determines before the room gets the client.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct Identity {
    /// The user. Only a client of the same subject can resume a session, and the other participants
    /// see it ([`Identity::user`]). Empty if the server does not know its users.
    pub subject: Vec<u8>,
    /// What the user may do. Only the [`Authority`] knows what these bytes mean; every request
    /// contains them.
    pub rights: Vec<u8>,
}

impl Identity {
    /// The user as the other participants see it (wire W100): the subject. `None` if the server
    /// does not know its users, or the subject is no text of at most [`MAX_USER`] bytes.
    pub fn user(&self) -> Option<&str> {
        let user = core::str::from_utf8(&self.subject).ok()?;
        (1..=MAX_USER).contains(&user.len()).then_some(user)
    }
}

/// A participant asks to open a channel.
#[non_exhaustive]
#[derive(Debug, Clone, Copy)]
pub struct OpenRequest<'a> {
    /// The name of the room.
    pub room: &'a str,
    /// The identity of the participant that asks.
    pub identity: &'a Identity,
    /// The channel's name.
    pub channel: &'a str,
    /// The rights asked for.
    pub access: Access,
    /// The QoS asked for.
    pub qos: Qos,
    /// The QoS of the channel if it exists already. The QoS of a [`Grant`] then has no effect.
    pub existing: Option<Qos>,
}

impl<'a> OpenRequest<'a> {
    /// A request to open a channel that does not exist yet. Rooms make requests themselves. This
    /// function is for tests of an [`Authority`], and for servers that ask it outside of a room.
    pub fn new(
        room: &'a str,
        identity: &'a Identity,
        channel: &'a str,
        access: Access,
        qos: Qos,
    ) -> Self {
        OpenRequest { room, identity, channel, access, qos, existing: None }
    }

    /// The same for a channel that exists, with this QoS.
    #[must_use]
    pub fn existing(self, qos: Qos) -> Self {
        OpenRequest { existing: Some(qos), ..self }
    }
}

/// The rights of a participant on a channel, and the channel's QoS.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Grant {
    /// The rights. Rights that were not asked for have no effect.
    pub access: Access,
    /// The QoS of the channel if it is new.
    pub qos: Qos,
}

/// A participant asks for another QoS of a channel that it has open (wire W77).
#[non_exhaustive]
#[derive(Debug, Clone, Copy)]
pub struct ChangeRequest<'a> {
    /// The name of the room.
    pub room: &'a str,
    /// The identity of the participant that asks.
    pub identity: &'a Identity,
    /// The channel's name.
    pub channel: &'a str,
    /// The rights that the participant was granted on the channel.
    pub access: Access,
    /// The QoS asked for. Kind, overflow and `private` are the same as before.
    pub qos: Qos,
    /// The present QoS of the channel.
    pub existing: Qos,
}

/// A participant offers to make a part of the room's snapshot (wire W95).
#[non_exhaustive]
#[derive(Debug, Clone, Copy)]
pub struct PartRequest<'a> {
    /// The name of the room.
    pub room: &'a str,
    /// The identity of the participant that asks.
    pub identity: &'a Identity,
    /// The name of the part.
    pub part: &'a str,
    /// The names of the channels whose transactions it will stand for.
    pub channels: &'a [&'a str],
}

/// Decides who may publish and subscribe on the channels of a room, set their QoS, and make its
/// snapshot. Who may join is decided before a room hears of a client, because that can take a
/// while.
///
/// ```
/// use groupwire_session::{Access, Authority, Grant, OpenRequest};
///
/// /// Guests may receive messages, but not send any.
/// struct Guests;
///
/// impl Authority for Guests {
///     fn open(&self, request: &OpenRequest<'_>) -> Result<Grant, String> {
///         let publish = request.identity.rights != b"guest";
///         Ok(Grant { access: Access { publish, subscribe: true }, qos: request.qos })
///     }
/// }
/// ```
pub trait Authority {
    /// Decides what a participant may do on a channel.
    ///
    /// # Errors
    /// The reason for the refusal. The client is shown this text.
    fn open(&self, request: &OpenRequest<'_>) -> Result<Grant, String>;

    /// Decides which QoS the channel has from now on, for all participants. By default, a
    /// participant that may publish on the channel gets the QoS that it asks for.
    ///
    /// # Errors
    /// The reason for the refusal. The client is shown this text.
    fn change(&self, request: &ChangeRequest<'_>) -> Result<Qos, String> {
        match request.access.publish {
            true => Ok(request.qos),
            false => Err("a participant that may not publish on a channel may not change its QoS"
                .to_string()),
        }
    }

    /// Decides what a participant may send before it is slowed down. `usual` is what the room's
    /// configuration says, which holds by default.
    fn quota(&self, _identity: &Identity, usual: Quota) -> Quota {
        usual
    }

    /// Decides whether a participant may upload a part of the snapshot. It replaces transactions
    /// for everybody who joins later, so a wrong one spoils the room. By default, everybody may who
    /// receives the messages of its channels.
    ///
    /// # Errors
    /// The reason for the refusal. The client is shown this text.
    fn part(&self, _request: &PartRequest<'_>) -> Result<(), String> {
        Ok(())
    }
}

/// Allows everything to all clients. It is meant for trusted networks and tests.
#[derive(Debug, Clone, Copy, Default)]
pub struct AllowAll;

impl Authority for AllowAll {
    fn open(&self, request: &OpenRequest<'_>) -> Result<Grant, String> {
        Ok(Grant { access: request.access, qos: request.qos })
    }
}
