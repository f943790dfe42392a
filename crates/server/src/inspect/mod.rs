//! The requests of the inspector (docs/inspector.md).

mod context;
mod query;
mod recording;
mod recordings;
mod refusal;
mod report_streams;
mod stream;
mod view;

use std::sync::Arc;

use axum::extract::rejection::{JsonRejection, QueryRejection};
use axum::extract::{DefaultBodyLimit, Query, State};
use axum::response::IntoResponse;
use axum::routing::{get, post};
use axum::{Json, Router};
use groupwire_session::limits::MAX_ROOM_NAME;
use serde::{Deserialize, Serialize};

use crate::cluster::http::{Answers, Forward};
use crate::rooms::task::Driver;
use crate::web::answers::{NO_SNIFF, NO_STORE};

pub(crate) use context::InspectContext;
use query::{ParticipantQuery, RoomQuery};
use refusal::Refusal;
use stream::stream;

/// Most bytes of a request's body; `{"on":true}` has 11.
const MAX_BODY: usize = 256;

#[derive(Serialize, Deserialize)]
struct Rooms {
    rooms: Vec<Room>,
    /// True if rooms can be recorded.
    records: bool,
    /// Servers of the cluster whose rooms are missing, because they did not answer.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    unanswered: Vec<String>,
}

#[derive(Serialize, Deserialize)]
struct Room {
    name: String,
    participants: usize,
    messages: u64,
    bytes_before: u64,
    bytes_after: u64,
}

/// Maps paths to their handlers. `forward`: asks other servers for their rooms, if those are to be
/// listed, too.
pub(crate) fn routes(context: Arc<InspectContext>, forward: Option<Arc<Forward>>) -> Router {
    let listing = Router::new().route("/inspect/rooms", get(rooms));
    let about_rooms = Router::new()
        .route("/inspect/stream", get(stream))
        .route("/inspect/templates", get(templates))
        .route("/inspect/record", post(record).layer(DefaultBodyLimit::max(MAX_BODY)));
    listing.with_state((Arc::clone(&context), forward)).merge(about_rooms.with_state(context))
}

/// Lists all rooms.
async fn rooms(
    State((context, forward)): State<(Arc<InspectContext>, Option<Arc<Forward>>)>,
) -> impl IntoResponse {
    let mut rooms = Vec::new();
    for name in context.rooms.names() {
        let look = |driver: &mut Driver, _| (driver.room.stats(), driver.room.count_here());
        let Some((stats, participants)) = context.rooms.with_room(&name, look).await else {
            continue;
        };
        rooms.push(Room {
            name,
            participants,
            messages: stats.messages_in + stats.deliveries,
            bytes_before: stats.bytes_in_before + stats.bytes_out_before,
            bytes_after: stats.bytes_in_after + stats.bytes_out_after,
        });
    }
    let mut records = context.record_dir.is_some();
    let mut unanswered = Vec::new();
    if let Some(forward) = forward {
        let others: Answers<Rooms> = forward.ask_all("/inspect/rooms").await;
        for (_, answer) in others.answers {
            records |= answer.records;
            rooms.extend(answer.rooms);
        }
        unanswered = others.unanswered;
    }
    rooms.sort_by(|one, two| two.messages.cmp(&one.messages).then(one.name.cmp(&two.name)));
    let rooms = Rooms { rooms, records, unanswered };
    ([NO_SNIFF, NO_STORE], Json(rooms))
}

/// Lists the templates of the models that compress the messages to a participant.
async fn templates(
    State(context): State<Arc<InspectContext>>,
    query: Result<Query<ParticipantQuery>, QueryRejection>,
) -> Result<impl IntoResponse, Refusal> {
    let Query(ParticipantQuery { room, participant }) = query.map_err(Refusal::Query)?;
    let templates =
        context.rooms.with_room(&room, move |driver, _| driver.room.templates(participant)).await;
    let (stream, datagrams) = templates.ok_or(Refusal::NoRoom)?;
    Ok(([NO_SNIFF, NO_STORE], Json(view::Templates::new(&stream, &datagrams))))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Record {
    on: bool,
}

/// Starts or stops the recording of a room.
async fn record(
    State(context): State<Arc<InspectContext>>,
    query: Result<Query<RoomQuery>, QueryRejection>,
    wanted: Result<Json<Record>, JsonRejection>,
) -> Result<impl IntoResponse, Refusal> {
    let Query(RoomQuery { room }) = query.map_err(Refusal::Query)?;
    let Json(Record { on }) = wanted.map_err(Refusal::Unreadable)?;
    if room.is_empty() || room.len() > MAX_ROOM_NAME {
        return Err(Refusal::NoRoom);
    }
    let state = match on {
        true => recording::start(&context, &room).await?,
        false => recording::stop(&context, &room).await.ok_or(Refusal::NotRecorded)?,
    };
    Ok(([NO_SNIFF, NO_STORE], Json(state)))
}
