//! The requests that read and set the emulated networks of rooms and participants: `GET` and `POST
//! /emulation?room=NAME`. On the administration listener they can also set a participant's network.
//! On the public listener, if [`crate::Config::emulate`] permits them, they can set only a room's
//! network, which only those connections use that ask for it.

use std::sync::Arc;
use std::time::Duration;

use axum::extract::rejection::JsonRejection;
use axum::extract::{DefaultBodyLimit, Query, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use axum::routing::{self, MethodRouter};
use axum::{Json, Router};
use groupwire_session::ParticipantId;
use groupwire_session::limits::MAX_ROOM_NAME;
use serde::{Deserialize, Serialize};

use crate::ends::emulation::model::Settings;
use crate::transport::context::TransportContext;

/// Largest loss: with more than half of the packets lost no session works.
const MAX_LOSS: f64 = 0.5;

/// Longest delay, in each direction: with more, sessions take the connection for dead.
const MAX_DELAY: Duration = Duration::from_millis(1000);

/// Most bytes of a request's body; settings take about 30.
const MAX_BODY: usize = 1024;

/// The query of a request: what the settings apply to.
#[derive(Deserialize)]
struct Target {
    room: String,
    /// If given, the settings are those of this participant alone, over all its connections.
    participant: Option<u32>,
}

impl Target {
    fn parts(self) -> (String, Option<ParticipantId>) {
        (self.room, self.participant.map(ParticipantId))
    }

    fn of_room(self) -> Result<Self, Refusal> {
        match self.participant {
            Some(_) => Err(Refusal::Participant),
            None => Ok(self),
        }
    }
}

/// Settings as JSON.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct SettingsJson {
    /// The share of packets lost, from 0 to 0.5.
    loss: f64,
    /// Delay in each direction, in milliseconds, from 0 to 1000.
    delay_ms: f64,
}

/// The route by which everybody may set the network of a room, for demonstrations.
pub(in crate::transport) fn public_routes(context: Arc<TransportContext>) -> Router {
    routes(context, routing::get(get_of_room).post(set_of_room))
}

/// The route of the administration, which may set the network of a participant, too.
pub(crate) fn admin_routes(context: Arc<TransportContext>) -> Router {
    routes(context, routing::get(get).post(set))
}

fn routes(context: Arc<TransportContext>, methods: MethodRouter<Arc<TransportContext>>) -> Router {
    let methods = methods.layer(DefaultBodyLimit::max(MAX_BODY));
    Router::new().route("/emulation", methods).with_state(context)
}

/// Answers with the settings of a room. Refuses a query that names a participant.
async fn get_of_room(
    context: State<Arc<TransportContext>>,
    Query(target): Query<Target>,
) -> Result<Json<SettingsJson>, Refusal> {
    get(context, Query(target.of_room()?)).await
}

/// Changes the settings of a room. Refuses a query that names a participant.
async fn set_of_room(
    context: State<Arc<TransportContext>>,
    Query(target): Query<Target>,
    wanted: Result<Json<SettingsJson>, JsonRejection>,
) -> Result<Json<SettingsJson>, Refusal> {
    set(context, Query(target.of_room()?), wanted).await
}

/// Answers with the settings of a room or of a participant.
async fn get(
    State(context): State<Arc<TransportContext>>,
    Query(target): Query<Target>,
) -> Result<Json<SettingsJson>, Refusal> {
    let (room, participant) = target.parts();
    check(&room)?;
    let Some(participant) = participant else {
        return Ok(Json(context.emulations.settings(&room).into()));
    };
    let settings =
        context.rooms.with_room(&room, move |driver, _| driver.emulated(participant)).await;
    Ok(Json(settings.flatten().unwrap_or_default().into()))
}

/// Changes the settings of a room or of a participant.
async fn set(
    State(context): State<Arc<TransportContext>>,
    Query(target): Query<Target>,
    wanted: Result<Json<SettingsJson>, JsonRejection>,
) -> Result<Json<SettingsJson>, Refusal> {
    let (room, participant) = target.parts();
    check(&room)?;
    let Json(wanted) = wanted.map_err(Refusal::Unreadable)?;
    let settings = Settings::try_from(wanted)?;
    match participant {
        Some(participant) => {
            let set = context
                .rooms
                .with_room(&room, move |driver, _| driver.emulate(participant, settings))
                .await;
            set.unwrap_or_default().then_some(()).ok_or(Refusal::NoParticipant)?;
        }
        None => context.emulations.path(&room).ok_or(Refusal::TooMany)?.set(settings),
    }
    tracing::info!(loss = settings.loss, delay = ?settings.delay, participant = participant.map(tracing::field::display), "emulated network set");
    Ok(Json(settings.into()))
}

fn check(room: &str) -> Result<(), Refusal> {
    match room.is_empty() || room.len() > MAX_ROOM_NAME {
        true => Err(Refusal::Room),
        false => Ok(()),
    }
}

impl TryFrom<SettingsJson> for Settings {
    type Error = Refusal;

    fn try_from(SettingsJson { loss, delay_ms }: SettingsJson) -> Result<Self, Refusal> {
        // The comparison is false for NaN too.
        if !(0.0..=MAX_LOSS).contains(&loss) {
            return Err(Refusal::Loss);
        }
        let longest = MAX_DELAY.as_millis() as f64;
        if !(0.0..=longest).contains(&delay_ms) {
            return Err(Refusal::Delay);
        }
        Ok(Settings { loss, delay: Duration::from_secs_f64(delay_ms / 1000.0) })
    }
}

impl From<Settings> for SettingsJson {
    fn from(Settings { loss, delay }: Settings) -> Self {
        SettingsJson { loss, delay_ms: delay.as_secs_f64() * 1000.0 }
    }
}

/// Why a request is refused.
#[derive(Debug)]
enum Refusal {
    Participant,
    Room,
    Loss,
    Delay,
    TooMany,
    NoParticipant,
    Unreadable(JsonRejection),
}

impl IntoResponse for Refusal {
    fn into_response(self) -> Response {
        let (status, why) = match self {
            Refusal::Participant => (
                StatusCode::FORBIDDEN,
                "only the administration listener sets the network of a participant\n",
            ),
            Refusal::Room => (StatusCode::BAD_REQUEST, "room: write 1 to 256 bytes\n"),
            Refusal::Loss => (StatusCode::BAD_REQUEST, "loss: write a number from 0 to 0.5\n"),
            Refusal::Delay => {
                (StatusCode::BAD_REQUEST, "delay_ms: write a number from 0 to 1000\n")
            }
            Refusal::TooMany => (
                StatusCode::SERVICE_UNAVAILABLE,
                "too many rooms have an emulated network, try again later\n",
            ),
            Refusal::NoParticipant => (
                StatusCode::NOT_FOUND,
                "there is no such participant, or its transport cannot be emulated\n",
            ),
            Refusal::Unreadable(rejection) => return rejection.into_response(),
        };
        (status, why).into_response()
    }
}
