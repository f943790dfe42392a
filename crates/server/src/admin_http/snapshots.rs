//! The administration's requests to list the snapshots and positions that a stored room can be
//! taken back to, and to take it back. `openapi.json` describes them.

use std::sync::Arc;

use axum::extract::rejection::{JsonRejection, PathRejection};
use axum::extract::{DefaultBodyLimit, Path, State};
use axum::http::StatusCode;
use axum::response::IntoResponse;
use axum::routing::{get, post};
use axum::{Json, Router};
use groupwire_session::room::RESET_SIZE;
use serde::{Deserialize, Serialize};

use super::context::AdminContext;
use super::refusal::Refusal;
use crate::durable::{Durable, Moment, SnapshotInfo, StoreError};
use crate::rooms::directory::Directory;
use crate::tools::secret::random_number;
use crate::web::answers::{NO_SNIFF, NO_STORE};

/// Most bytes of a request's body.
const MAX_BODY: usize = 256;

/// Maps paths to their handlers.
pub(super) fn router() -> Router<AdminContext> {
    Router::new()
        .route("/api/rooms/{room}/snapshots", get(snapshots))
        .route("/api/rooms/{room}/restore", post(restore).layer(DefaultBodyLimit::max(MAX_BODY)))
}

#[derive(Serialize)]
struct All {
    /// The position of the newest transaction.
    head: u64,
    /// The room can be taken back to each position from this one on.
    oldest: u64,
    snapshots: Vec<SnapshotLine>,
}

#[derive(Serialize)]
struct SnapshotLine {
    snapshot: i64,
    /// The name of the part; `null` for a reset.
    part: Option<String>,
    is_reset: bool,
    /// The numbers of its channels.
    channels: Vec<u32>,
    as_of: u64,
    /// Unix time in seconds.
    taken: u64,
    bytes: u64,
    is_newest: bool,
}

impl SnapshotLine {
    fn new(info: SnapshotInfo) -> Self {
        let is_reset = is_reset(&info);
        let SnapshotInfo { id, name, channels, as_of, taken, size, is_newest } = info;
        let part = (!is_reset).then_some(name);
        let taken = taken / 1000;
        SnapshotLine {
            snapshot: id,
            part,
            is_reset,
            channels,
            as_of,
            taken,
            bytes: size,
            is_newest,
        }
    }
}

fn is_reset(info: &SnapshotInfo) -> bool {
    info.size == RESET_SIZE as u64
}

async fn snapshots(
    State(durable): State<Option<Arc<Durable>>>,
    room: Result<Path<String>, PathRejection>,
) -> Result<impl IntoResponse, Refusal> {
    let Path(room) = room.map_err(Refusal::Path)?;
    let durable = durable.as_ref().ok_or(Refusal::NotStored)?;
    let found = durable.stores.history.snapshots(&room).ok_or(Refusal::NotStored)?;
    let snapshots = found.snapshots.into_iter().map(SnapshotLine::new).collect();
    let all = All { head: found.head, oldest: found.oldest.max(1), snapshots };
    Ok(([NO_SNIFF, NO_STORE], Json(all)))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Restore {
    snapshot: Option<i64>,
    position: Option<u64>,
}

/// Restores a room to a snapshot or position. Its participants are disconnected, and receive a gap
/// when they come back.
async fn restore(
    State(rooms): State<Arc<Directory>>,
    State(durable): State<Option<Arc<Durable>>>,
    room: Result<Path<String>, PathRejection>,
    wanted: Result<Json<Restore>, JsonRejection>,
) -> Result<StatusCode, Refusal> {
    let Path(room) = room.map_err(Refusal::Path)?;
    let Json(wanted) = wanted.map_err(Refusal::Unreadable)?;
    let moment = match (wanted.snapshot, wanted.position) {
        (Some(snapshot), None) => Moment::Snapshot(snapshot),
        (None, Some(position)) => Moment::Position(position),
        _ => return Err(Refusal::Moment),
    };
    let durable = durable.ok_or(Refusal::NotStored)?;
    let known = durable.stores.history.snapshots(&room).ok_or(Refusal::NotStored)?;
    if let Moment::Snapshot(id) = moment
        && passes_reset(&known.snapshots, id)
    {
        return Err(Refusal::BehindReset);
    }
    let held = rooms.hold(&room).await?;
    let name = room.clone();
    // This blocks for as long as the disk takes. It continues if the client disconnects, and the
    // room is held until it has ended.
    let taking = tokio::task::spawn_blocking(move || {
        let outcome = durable.stores.history.take_back(&name, moment, random_number());
        drop(held);
        outcome
    });
    match taking.await {
        Ok(Ok(())) => {
            tracing::info!(room, ?moment, "room taken back");
            Ok(StatusCode::NO_CONTENT)
        }
        Ok(Err(StoreError::NoRoom)) => Err(Refusal::NotStored),
        Ok(Err(StoreError::NotKept)) => Err(Refusal::NotKept),
        Ok(Err(error)) => Err(Refusal::Store(error.to_string())),
        Err(error) => Err(Refusal::Store(error.to_string())),
    }
}

/// True if the snapshot's part was reset after it. The transaction of that reset would reset the
/// channels again.
fn passes_reset(all: &[SnapshotInfo], id: i64) -> bool {
    let Some(chosen) = all.iter().find(|one| one.id == id) else { return false };
    let is_passed = |one: &&SnapshotInfo| one.name == chosen.name && one.id > id;
    all.iter().filter(is_passed).any(is_reset)
}
