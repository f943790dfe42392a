//! Queries of the inspector's requests.

use serde::Deserialize;

/// A request about one room.
#[derive(Deserialize)]
pub(crate) struct RoomQuery {
    pub(super) room: String,
}
