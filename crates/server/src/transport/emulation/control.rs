//! What each room's emulated path does: `GET` and `POST /emulation?room=NAME`.

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

/// More than every second packet lost is no network.
const MOST_LOSS: f64 = 0.5;

/// Each way; with more, sessions take the connection for dead.
const LONGEST_DELAY: Duration = Duration::from_millis(1000);

/// Rooms with a path. Some hundred bytes each.
const ROOMS: usize = 256;

/// Bytes of a request.
pub(crate) const MAX_BODY: usize = 1024;

/// A path, which the connections that are led over it look at for each packet.
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

/// The paths of all rooms that have one.
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

    /// Another one for each line; the same after each start.
    pub(super) fn seed(&self) -> u64 {
        // SplitMix64 gives neighbouring seeds the same numbers, shifted by one; far ones share none for long.
        self.seeds.fetch_add(1, Ordering::Relaxed).wrapping_mul(0xD134_2543_DE82_EF95)
    }

    /// The path of a room, made if there is none. `None`: there are too many, and all are in use.
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
    /// The path of this participant alone, whatever connection it has.
    participant: Option<u32>,
}

/// Settings as they are said over HTTP.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Wanted {
    /// From 0 to 0.5.
    loss: f64,
    /// Milliseconds each way, from 0 to 1000.
    delay_ms: f64,
}

/// Says what a room's or a participant's path does.
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

/// Changes what a room's or a participant's path does, at once.
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
    tracing::info!(loss = settings.loss, delay = ?settings.delay, participant, "a path is emulated");
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
        // Not met by what is no number either.
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

/// Why a request is not answered as it wishes.
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
                "this server emulates nothing: start it with --emulate, or let it listen on loopback\n",
            ),
            Refusal::Room => (StatusCode::BAD_REQUEST, "room: 1 to 256 bytes are due\n"),
            Refusal::Loss => (StatusCode::BAD_REQUEST, "loss: 0 to 0.5 is due\n"),
            Refusal::Delay => (StatusCode::BAD_REQUEST, "delay_ms: 0 to 1000 is due\n"),
            Refusal::TooMany => {
                (StatusCode::SERVICE_UNAVAILABLE, "too many rooms are emulated, try again later\n")
            }
            Refusal::Nobody => (
                StatusCode::NOT_FOUND,
                "there is no such participant, or its transport cannot be emulated\n",
            ),
            Refusal::Unreadable(rejection) => return rejection.into_response(),
        };
        (status, why).into_response()
    }
}
