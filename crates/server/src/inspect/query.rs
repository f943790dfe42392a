//! The query parameters of the inspector's requests.

use groupwire_session::ParticipantId;
use serde::{Deserialize, Deserializer};

/// The query of a request about one room.
#[derive(Deserialize)]
pub(crate) struct RoomQuery {
    pub(super) room: String,
}

/// The query of a request about one participant of a room.
#[derive(Deserialize)]
pub(crate) struct ParticipantQuery {
    pub(super) room: String,
    #[serde(deserialize_with = "participant")]
    pub(super) participant: ParticipantId,
}

fn participant<'de, D: Deserializer<'de>>(number: D) -> Result<ParticipantId, D::Error> {
    u32::deserialize(number).map(ParticipantId)
}
