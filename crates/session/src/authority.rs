//! Who may do what: the server's hook (wire.md W11, W16, W17).

use alloc::string::{String, ToString};
use alloc::vec::Vec;

use crate::{Access, Qos};

/// Somebody wants to join a room.
#[derive(Debug, Clone, Copy)]
pub struct JoinRequest<'a> {
    /// The room.
    pub room: &'a str,
    /// What the client presents; opaque to Groupwire.
    pub token: &'a [u8],
}

/// A participant wants to open a channel.
#[derive(Debug, Clone, Copy)]
pub struct OpenRequest<'a> {
    /// The room.
    pub room: &'a str,
    /// What [`Authority::join`] answered for this participant.
    pub identity: &'a [u8],
    /// The channel's name.
    pub channel: &'a str,
    /// What is asked for.
    pub access: Access,
    /// The QoS asked for.
    pub qos: Qos,
    /// The channel exists already, with this QoS; a grant's QoS is then of no effect.
    pub existing: Option<Qos>,
}

/// What is allowed on a channel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Grant {
    /// Of what was asked for, what is allowed.
    pub access: Access,
    /// The QoS a new channel gets.
    pub qos: Qos,
}

/// A participant wants another QoS for a channel that it has open.
#[derive(Debug, Clone, Copy)]
pub struct ChangeRequest<'a> {
    /// The room.
    pub room: &'a str,
    /// What [`Authority::join`] answered for this participant.
    pub identity: &'a [u8],
    /// The channel's name.
    pub channel: &'a str,
    /// What the participant was granted on it.
    pub access: Access,
    /// The QoS asked for. Kind, overflow and privacy are those that the channel has.
    pub qos: Qos,
    /// What holds.
    pub existing: Qos,
}

/// Decides about joining, publishing and subscribing, and about what channels need.
///
/// ```
/// use groupwire_session::{Access, Authority, Grant, JoinRequest, OpenRequest};
///
/// /// Guests may look but not touch.
/// struct Guests;
///
/// impl Authority for Guests {
///     fn join(&self, request: &JoinRequest<'_>) -> Result<Vec<u8>, String> {
///         Ok(request.token.to_vec())
///     }
///
///     fn open(&self, request: &OpenRequest<'_>) -> Result<Grant, String> {
///         let publish = request.identity != b"guest";
///         Ok(Grant { access: Access { publish, subscribe: true }, qos: request.qos })
///     }
/// }
/// ```
pub trait Authority {
    /// May this client join? The answer is kept and presented with each later request.
    ///
    /// # Errors
    /// The reason for a no, shown to the client.
    fn join(&self, request: &JoinRequest<'_>) -> Result<Vec<u8>, String>;

    /// What may this participant do on this channel?
    ///
    /// # Errors
    /// The reason for a no, shown to the client.
    fn open(&self, request: &OpenRequest<'_>) -> Result<Grant, String>;

    /// What does the channel get instead of its QoS, for everybody? Unless said otherwise, who may publish on it is
    /// given what it asks for.
    ///
    /// # Errors
    /// The reason for a no, shown to the client.
    fn change(&self, request: &ChangeRequest<'_>) -> Result<Qos, String> {
        match request.access.publish {
            true => Ok(request.qos),
            false => Err("who may not publish on a channel does not say what it needs".to_string()),
        }
    }
}

/// Everybody may do everything: for trusted networks and tests.
#[derive(Debug, Clone, Copy, Default)]
pub struct AllowAll;

impl Authority for AllowAll {
    fn join(&self, _request: &JoinRequest<'_>) -> Result<Vec<u8>, String> {
        Ok(Vec::new())
    }

    fn open(&self, request: &OpenRequest<'_>) -> Result<Grant, String> {
        Ok(Grant { access: request.access, qos: request.qos })
    }
}
