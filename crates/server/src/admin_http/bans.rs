//! The administration's requests about bans: `/api/bans`, and closing a participant's connection.
//! `openapi.json` describes them.

use std::sync::Arc;

use axum::extract::rejection::{JsonRejection, PathRejection, QueryRejection};
use axum::extract::{DefaultBodyLimit, Path, Query, State};
use axum::http::StatusCode;
use axum::response::IntoResponse;
use axum::routing::{delete, get};
use axum::{Json, Router};
use groupwire_session::{Error, ParticipantId};
use serde::{Deserialize, Serialize};

use super::context::AdminContext;
use super::refusal::Refusal;
use crate::access::{Ban, Gate, NewBan};
use crate::cluster::control::Control;
use crate::rooms::directory::Directory;
use crate::web::answers::{NO_SNIFF, NO_STORE};

/// Most bytes of a request's body: four texts of 256 bytes, escaped, and their names.
const MAX_BODY: usize = 8192;

/// Maps paths to their handlers.
pub(super) fn router() -> Router<AdminContext> {
    Router::new()
        .route("/api/bans", get(bans).post(ban).layer(DefaultBodyLimit::max(MAX_BODY)))
        .route("/api/bans/{ban}", delete(unban))
}

/// Maps the path of requests about participants of rooms to its handler.
pub(super) fn router_of_rooms() -> Router<AdminContext> {
    Router::new().route("/api/rooms/{room}/participants/{participant}", delete(kick))
}

#[derive(Serialize)]
struct AllBans {
    bans: Vec<Ban>,
}

async fn bans(State(gate): State<Arc<Gate>>) -> impl IntoResponse {
    ([NO_SNIFF, NO_STORE], Json(AllBans { bans: gate.bans.all() }))
}

/// Keeps a user or a token out, and closes the connections that this meets.
async fn ban(
    State(gate): State<Arc<Gate>>,
    State(control): State<Option<Control>>,
    wanted: Result<Json<NewBan>, JsonRejection>,
) -> Result<impl IntoResponse, Refusal> {
    let Json(wanted) = wanted.map_err(Refusal::Unreadable)?;
    let ban = add(gate, control, wanted).await?;
    Ok((StatusCode::CREATED, [NO_SNIFF, NO_STORE], Json(ban)))
}

async fn unban(
    State(gate): State<Arc<Gate>>,
    State(control): State<Option<Control>>,
    id: Result<Path<u64>, PathRejection>,
) -> Result<StatusCode, Refusal> {
    let Path(id) = id.map_err(Refusal::Path)?;
    match control {
        Some(control) => control.unban(id).await.map_err(Refusal::Ban)?,
        None => {
            gate.bans.remove(id).map_err(Refusal::Ban)?;
            store(gate).await?;
        }
    }
    tracing::info!(id, "ban removed");
    Ok(StatusCode::NO_CONTENT)
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Kick {
    /// `forever`, or seconds.
    ban: Option<String>,
}

/// Closes a participant's connection with the error *refused*, after which its client does not come
/// back by itself; or bans its user from the room.
async fn kick(
    State(rooms): State<Arc<Directory>>,
    State(gate): State<Arc<Gate>>,
    State(control): State<Option<Control>>,
    target: Result<Path<(String, u32)>, PathRejection>,
    query: Result<Query<Kick>, QueryRejection>,
) -> Result<StatusCode, Refusal> {
    let Path((room, participant)) = target.map_err(Refusal::Path)?;
    let Query(Kick { ban }) = query.map_err(Refusal::Query)?;
    let id = ParticipantId(participant);
    let Some(ban) = ban else {
        let why = Error::Refused { why: "an administrator closed this connection".to_owned() };
        let kicked = rooms.with_room(&room, move |driver, now| driver.fail(id, why, now));
        return match kicked.await {
            None => Err(Refusal::NoRoom),
            Some(false) => Err(Refusal::NoConnection),
            Some(true) => {
                tracing::info!(room, participant, "participant kicked");
                Ok(StatusCode::NO_CONTENT)
            }
        };
    };
    let seconds = match ban.as_str() {
        "forever" => None,
        seconds => Some(seconds.parse().map_err(|_| Refusal::BanTime)?),
    };
    let found = rooms.with_room(&room, move |driver, _| {
        let identity = driver.room.identity_of(id)?;
        Some(identity.user().map(str::to_owned))
    });
    let user = found.await.ok_or(Refusal::NoRoom)?.ok_or(Refusal::NoParticipant)?;
    let user = Some(user.ok_or(Refusal::NoUser)?);
    add(gate, control, NewBan { user, room, seconds, ..NewBan::default() }).await?;
    Ok(StatusCode::NO_CONTENT)
}

async fn add(gate: Arc<Gate>, control: Option<Control>, wanted: NewBan) -> Result<Ban, Refusal> {
    let Some(control) = control else {
        let ban = gate.bans.add(wanted).map_err(Refusal::Ban)?;
        tracing::info!(?ban, "ban made");
        store(gate).await?;
        return Ok(ban);
    };
    let ban = control.ban(wanted).await.map_err(Refusal::Ban)?;
    tracing::info!(?ban, "ban made on all servers");
    Ok(ban)
}

/// Stores the bans, which are in force already. The disk may take a while.
async fn store(gate: Arc<Gate>) -> Result<(), Refusal> {
    let storing = tokio::task::spawn_blocking(move || gate.bans.store()).await;
    storing.map_err(|error| Refusal::Store(error.to_string()))?.map_err(Refusal::Ban)
}
