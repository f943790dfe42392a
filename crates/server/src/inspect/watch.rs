//! Streams of reports of a room to inspectors. All inspectors of one room share the reports; without inspectors none
//! are made.

use std::collections::HashMap;
use std::convert::Infallible;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::extract::rejection::QueryRejection;
use axum::extract::{Query, State};
use axum::http::{HeaderName, HeaderValue, header};
use axum::response::{IntoResponse, Response};
use futures_util::stream::unfold;
use tokio::sync::broadcast::error::RecvError;
use tokio::sync::broadcast::{self, Receiver, Sender};
use tokio::time::{MissedTickBehavior, interval};

use super::{Of, Refusal, view};
use crate::http::{NO_SNIFF, NO_STORE};
use crate::hub::Hub;

/// Time between reports, short enough for a live display.
const EVERY: Duration = Duration::from_millis(250);

/// Reports that may wait for an inspector; a slower one skips some.
const BEHIND: usize = 8;

/// Most inspectors at the same time, in all rooms together.
const MOST: usize = 32;

/// The rooms with inspectors, and where their reports go.
#[derive(Default)]
pub(crate) struct Watches(Mutex<HashMap<String, Sender<Bytes>>>);

impl Watches {
    /// Adds an inspector of a room; `None` if there are too many. The sender is returned if no task makes reports of
    /// this room yet.
    fn join(&self, room: &str) -> Option<(Receiver<Bytes>, Option<Sender<Bytes>>)> {
        let mut watches = self.lock();
        if watches.values().map(Sender::receiver_count).sum::<usize>() >= MOST {
            return None;
        }
        if let Some(sender) = watches.get(room) {
            return Some((sender.subscribe(), None));
        }
        let (sender, receiver) = broadcast::channel(BEHIND);
        watches.insert(room.to_owned(), sender.clone());
        Some((receiver, Some(sender)))
    }

    /// Removes a room without inspectors. Returns false if it has one.
    fn leave(&self, room: &str, is_gone: bool) -> bool {
        let mut watches = self.lock();
        if !is_gone && watches.get(room).is_some_and(|sender| sender.receiver_count() > 0) {
            return false;
        }
        watches.remove(room);
        true
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<String, Sender<Bytes>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Answers with server-sent events: one report after the other, until the room is closed.
pub(crate) async fn stream(
    State(hub): State<Arc<Hub>>,
    query: Result<Query<Of>, QueryRejection>,
) -> Result<Response, Refusal> {
    let Query(Of { room }) = query.map_err(Refusal::Query)?;
    hub.visit(&room, |_, _| ()).await.ok_or(Refusal::NoRoom)?;
    let (reports, gathers) = hub.watches.join(&room).ok_or(Refusal::TooMany)?;
    if let Some(sender) = gathers {
        tokio::spawn(gather(Arc::clone(&hub), room, sender));
    }
    let events = unfold(reports, |mut reports| async move {
        loop {
            match reports.recv().await {
                Ok(report) => return Some((Ok::<_, Infallible>(report), reports)),
                Err(RecvError::Lagged(_)) => {}
                Err(RecvError::Closed) => return None,
            }
        }
    });
    const EVENTS: (HeaderName, HeaderValue) =
        (header::CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
    const UNBUFFERED: (HeaderName, HeaderValue) =
        (HeaderName::from_static("x-accel-buffering"), HeaderValue::from_static("no"));
    let headers = [EVENTS, UNBUFFERED, NO_SNIFF, NO_STORE];
    Ok((headers, Body::from_stream(events)).into_response())
}

/// Makes reports of a room until it has no inspectors or is closed.
async fn gather(hub: Arc<Hub>, room: String, reports: Sender<Bytes>) {
    let mut ticks = interval(EVERY);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        ticks.tick().await;
        if reports.receiver_count() == 0 && hub.watches.leave(&room, false) {
            // An inspector that joins now turns tracing on again with the next report.
            hub.visit(&room, |driver, _| driver.room.set_tracing(false)).await;
            return;
        }
        let recording = hub.recordings.state(&room);
        let report = hub.visit(&room, |driver, now| view::report(driver, now, recording)).await;
        let Some(report) = report else { break };
        // Fails if the last inspector has just left.
        let _ = reports.send(event(&report));
    }
    hub.watches.leave(&room, true);
}

fn event(report: &view::Report) -> Bytes {
    let mut event = b"data: ".to_vec();
    // Serialization cannot fail: the report has no maps with keys other than strings.
    let _ = serde_json::to_writer(&mut event, report);
    event.extend_from_slice(b"\n\n");
    event.into()
}
