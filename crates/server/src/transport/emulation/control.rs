//! The emulated networks of rooms and participants, and the requests that read and set them: `GET` and `POST
//! /emulation?room=NAME`.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use axum::Json;
use axum::extract::rejection::JsonRejection;
use axum::extract::{Query, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use groupwire_session::ParticipantId;
use groupwire_session::limits::MAX_ROOM_NAME;
use serde::{Deserialize, Serialize};

use crate::hub::Hub;

pub(crate) use super::line::Settings;

/// Largest loss: with more than half of the packets lost no session works.
const MOST_LOSS: f64 = 0.5;

/// Longest delay, in each direction: with more, sessions take the connection for dead.
const LONGEST_DELAY: Duration = Duration::from_millis(1000);

/// Most rooms with an emulated network; each takes about a hundred bytes.
const ROOMS: usize = 256;

/// Most bytes of a request's body; settings take about 30.
pub(crate) const MAX_BODY: usize = 1024;

/// An emulated network path, whose settings connections read for each packet, so that a change takes effect at once.
#[derive(Default)]
pub(crate) struct Path(Mutex<Settings>);

impl Path {
    pub(crate) fn settings(&self) -> Settings {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn set(&self, settings: Settings) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = settings;
    }
}

/// The emulated paths of all rooms that have one.
pub(crate) struct Emulations {
    are_allowed: bool,
    paths: Mutex<HashMap<String, Arc<Path>>>,
    seeds: AtomicU64,
}

impl Emulations {
    pub(crate) fn new(are_allowed: bool) -> Self {
        Emulations { are_allowed, paths: Mutex::default(), seeds: AtomicU64::new(0) }
    }

    pub(crate) fn are_allowed(&self) -> bool {
        self.are_allowed
    }

    /// A seed for each emulated direction of each connection; the same sequence after each start of the server.
    pub(super) fn seed(&self) -> u64 {
        // SplitMix64 yields the same numbers, shifted by one, for neighbouring seeds; seeds far apart share none for
        // long.
        self.seeds.fetch_add(1, Ordering::Relaxed).wrapping_mul(0xD134_2543_DE82_EF95)
    }

    /// The path of a room, created if there is none; `None` if all paths are in use.
    pub(super) fn path(&self, room: &str) -> Option<Arc<Path>> {
        let mut paths = self.paths();
        if let Some(path) = paths.get(room) {
            return Some(Arc::clone(path));
        }
        if paths.len() >= ROOMS {
            paths.retain(|_, path| Arc::strong_count(path) > 1);
        }
        if paths.len() >= ROOMS {
            return None;
        }
        let path = Arc::new(Path::default());
        paths.insert(room.to_owned(), Arc::clone(&path));
        Some(path)
    }

    fn settings(&self, room: &str) -> Settings {
        self.paths().get(room).map(|path| path.settings()).unwrap_or_default()
    }

    fn paths(&self) -> MutexGuard<'_, HashMap<String, Arc<Path>>> {
        self.paths.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[derive(Deserialize)]
pub(crate) struct Of {
    room: String,
    /// If given, the settings are those of this participant alone, over all its connections.
    participant: Option<u32>,
}

/// Settings as JSON.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Wanted {
    /// The share of packets lost, from 0 to 0.5.
    loss: f64,
    /// Delay in each direction, in milliseconds, from 0 to 1000.
    delay_ms: f64,
}

/// Answers with the settings of a room or of a participant.
pub(crate) async fn get(
    State(hub): State<Arc<Hub>>,
    Query(Of { room, participant }): Query<Of>,
) -> Result<Json<Wanted>, Refusal> {
    judge(&hub, &room)?;
    let Some(participant) = participant else {
        return Ok(Json(hub.emulations.settings(&room).into()));
    };
    let settings =
        hub.visit(&room, move |driver, _| driver.emulated(ParticipantId(participant))).await;
    Ok(Json(settings.flatten().unwrap_or_default().into()))
}

/// Changes the settings of a room or of a participant.
pub(crate) async fn set(
    State(hub): State<Arc<Hub>>,
    Query(Of { room, participant }): Query<Of>,
    wanted: Result<Json<Wanted>, JsonRejection>,
) -> Result<Json<Wanted>, Refusal> {
    judge(&hub, &room)?;
    let Json(wanted) = wanted.map_err(Refusal::Unreadable)?;
    let settings = Settings::try_from(wanted)?;
    match participant {
        Some(participant) => {
            let set = hub
                .visit(&room, move |driver, _| driver.emulate(ParticipantId(participant), settings))
                .await;
            set.unwrap_or_default().then_some(()).ok_or(Refusal::Nobody)?;
        }
        None => hub.emulations.path(&room).ok_or(Refusal::TooMany)?.set(settings),
    }
    tracing::info!(loss = settings.loss, delay = ?settings.delay, participant, "emulated network set");
    Ok(Json(settings.into()))
}

fn judge(hub: &Hub, room: &str) -> Result<(), Refusal> {
    match hub.emulations.are_allowed {
        false => Err(Refusal::Off),
        true if room.is_empty() || room.len() > MAX_ROOM_NAME => Err(Refusal::Room),
        true => Ok(()),
    }
}

impl TryFrom<Wanted> for Settings {
    type Error = Refusal;

    fn try_from(Wanted { loss, delay_ms }: Wanted) -> Result<Self, Refusal> {
        // The comparison is false for NaN too.
        if !(0.0..=MOST_LOSS).contains(&loss) {
            return Err(Refusal::Loss);
        }
        let longest = LONGEST_DELAY.as_millis() as f64;
        if !(0.0..=longest).contains(&delay_ms) {
            return Err(Refusal::Delay);
        }
        Ok(Settings { loss, delay: Duration::from_secs_f64(delay_ms / 1000.0) })
    }
}

impl From<Settings> for Wanted {
    fn from(Settings { loss, delay }: Settings) -> Self {
        Wanted { loss, delay_ms: delay.as_secs_f64() * 1000.0 }
    }
}

/// Why a request is refused.
#[derive(Debug)]
pub(crate) enum Refusal {
    Off,
    Room,
    Loss,
    Delay,
    TooMany,
    Nobody,
    Unreadable(JsonRejection),
}

impl IntoResponse for Refusal {
    fn into_response(self) -> Response {
        let (status, why) = match self {
            Refusal::Off => (
                StatusCode::FORBIDDEN,
                "emulation is off: start the server with --emulate, or let it listen on a loopback address\n",
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
            Refusal::Nobody => (
                StatusCode::NOT_FOUND,
                "there is no such participant, or its transport cannot be emulated\n",
            ),
            Refusal::Unreadable(rejection) => return rejection.into_response(),
        };
        (status, why).into_response()
    }
}
