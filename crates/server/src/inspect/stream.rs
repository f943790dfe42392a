//! Streams of reports of a room to inspectors. All inspectors of one room share the reports;
//! without inspectors none are made.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::extract::rejection::QueryRejection;
use axum::extract::{Query, State};
use axum::http::{HeaderName, HeaderValue, header};
use axum::response::{IntoResponse, Response};
use futures_util::stream::unfold;
use tokio::sync::broadcast::Sender;
use tokio::sync::broadcast::error::RecvError;
use tokio::time::{MissedTickBehavior, interval};

use super::context::InspectContext;
use super::query::RoomQuery;
use super::refusal::Refusal;
use super::view;
use crate::web::answers::{NO_SNIFF, NO_STORE};

/// Time between reports, short enough for a live display.
const INTERVAL: Duration = Duration::from_millis(250);

/// Answers with server-sent events: one report after the other, until the room is closed.
pub(super) async fn stream(
    State(context): State<Arc<InspectContext>>,
    query: Result<Query<RoomQuery>, QueryRejection>,
) -> Result<Response, Refusal> {
    let Query(RoomQuery { room }) = query.map_err(Refusal::Query)?;
    context.rooms.with_room(&room, |_, _| ()).await.ok_or(Refusal::NoRoom)?;
    let (reports, gathers) = context.report_streams.join(&room).ok_or(Refusal::TooMany)?;
    if let Some(sender) = gathers {
        tokio::spawn(gather(Arc::clone(&context), room, sender));
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
async fn gather(context: Arc<InspectContext>, room: String, reports: Sender<Bytes>) {
    let mut ticks = interval(INTERVAL);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        ticks.tick().await;
        if reports.receiver_count() == 0 && context.report_streams.leave(&room, false) {
            // An inspector that joins now turns tracing on again with the next report.
            context.rooms.with_room(&room, |driver, _| driver.room.set_tracing(false)).await;
            return;
        }
        let recording = context.recordings.state(&room);
        let report = context
            .rooms
            .with_room(&room, |driver, now| view::report(driver, now, recording))
            .await;
        let Some(report) = report else { break };
        // Fails if the last inspector has just left.
        let _ = reports.send(event(&report));
    }
    context.report_streams.leave(&room, true);
}

fn event(report: &view::Report) -> Bytes {
    let mut event = b"data: ".to_vec();
    // Serialization cannot fail: the report has no maps with keys other than strings.
    let _ = serde_json::to_writer(&mut event, report);
    event.extend_from_slice(b"\n\n");
    event.into()
}
