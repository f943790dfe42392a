//! The requests of the inspector (docs/inspector.md).

mod query;
mod recording;
pub(crate) mod recordings;
mod refusal;
pub(crate) mod report_streams;
mod stream;
mod view;

use std::sync::Arc;

use axum::Json;
use axum::extract::rejection::{JsonRejection, QueryRejection};
use axum::extract::{Query, State};
use axum::response::IntoResponse;
use groupwire_session::limits::MAX_ROOM_NAME;
use serde::{Deserialize, Serialize};

use crate::rooms::hub::Hub;
use crate::web::answers::{NO_SNIFF, NO_STORE};

use query::{ParticipantQuery, RoomQuery};
use refusal::Refusal;
pub(crate) use stream::stream;

/// Most bytes of a request's body; `{"on":true}` has 11.
pub(crate) const MAX_BODY: usize = 256;

#[derive(Serialize)]
struct Rooms {
    rooms: Vec<Room>,
    /// True if rooms can be recorded.
    records: bool,
}

#[derive(Serialize)]
struct Room {
    name: String,
    participants: usize,
    messages: u64,
    bytes_before: u64,
    bytes_after: u64,
}

/// Lists all rooms.
pub(crate) async fn rooms(State(hub): State<Arc<Hub>>) -> impl IntoResponse {
    let mut rooms = Vec::new();
    for name in hub.names() {
        let Some(stats) = hub.with_room(&name, |driver, _| driver.room.stats()).await else {
            continue;
        };
        rooms.push(Room {
            name,
            participants: stats.here,
            messages: stats.messages_in + stats.deliveries,
            bytes_before: stats.bytes_in_before + stats.bytes_out_before,
            bytes_after: stats.bytes_in_after + stats.bytes_out_after,
        });
    }
    rooms.sort_by(|one, two| two.messages.cmp(&one.messages).then(one.name.cmp(&two.name)));
    let records = hub.config.record_dir.is_some();
    let rooms = Rooms { rooms, records };
    ([NO_SNIFF, NO_STORE], Json(rooms))
}

/// Lists the templates of the models that compress the messages to a participant.
pub(crate) async fn templates(
    State(hub): State<Arc<Hub>>,
    query: Result<Query<ParticipantQuery>, QueryRejection>,
) -> Result<impl IntoResponse, Refusal> {
    let Query(ParticipantQuery { room, participant }) = query.map_err(Refusal::Query)?;
    let templates = hub.with_room(&room, move |driver, _| driver.room.templates(participant)).await;
    let (stream, datagrams) = templates.ok_or(Refusal::NoRoom)?;
    Ok(([NO_SNIFF, NO_STORE], Json(view::Templates::new(&stream, &datagrams))))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Record {
    on: bool,
}

/// Starts or stops the recording of a room.
pub(crate) async fn record(
    State(hub): State<Arc<Hub>>,
    query: Result<Query<RoomQuery>, QueryRejection>,
    wanted: Result<Json<Record>, JsonRejection>,
) -> Result<impl IntoResponse, Refusal> {
    let Query(RoomQuery { room }) = query.map_err(Refusal::Query)?;
    let Json(Record { on }) = wanted.map_err(Refusal::Unreadable)?;
    if room.is_empty() || room.len() > MAX_ROOM_NAME {
        return Err(Refusal::NoRoom);
    }
    let state = match on {
        true => recording::start(&hub, &room).await?,
        false => recording::stop(&hub, &room).await.ok_or(Refusal::NotRecorded)?,
    };
    Ok(([NO_SNIFF, NO_STORE], Json(state)))
}
