//! A user's request to read a channel: `GET /v1/rooms/ROOM/channels/CHANNEL/messages`, at once or
//! once there is something new.

use std::sync::Arc;
use std::time::Duration;

use axum::Json;
use axum::extract::rejection::PathRejection;
use axum::extract::{Path, Request, State};
use axum::response::IntoResponse;
use groupwire_session::room::{Page, Reading, Tidings};
use serde::Serialize;
use tokio::sync::watch;

use super::answer::{MessageLine, headers};
use super::ask::{User, ask, check_channel, room};
use super::context::UserContext;
use super::follow::Waiting;
use super::place::{After, Cursor};
use super::query::Params;
use super::refusal::Refusal;

/// No further message is put into an answer after this many bytes.
pub(super) const MAX_BYTES: usize = 256 << 10;

/// A page of messages.
#[derive(Serialize)]
struct Messages {
    messages: Vec<MessageLine>,
    /// The `after` of the next request.
    cursor: String,
    /// The position up to which the answer has the channel's transactions.
    position: u64,
    /// True if there is more to read at once.
    more: bool,
    gap: Option<Gap>,
}

/// Transactions that the user lacks, and the room does not have any more.
#[derive(Serialize)]
pub(super) struct Gap {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) channel: Option<String>,
    /// The position of the last one.
    pub(super) position: u64,
    /// `dropped`, or `new_room`: the room was lost, and is another one.
    pub(super) reason: &'static str,
}

/// What one look at a room found.
pub(super) struct Look {
    pub(super) page: Page,
    pub(super) cursor: Cursor,
    pub(super) is_anew: bool,
    pub(super) changes: watch::Receiver<Tidings>,
}

pub(super) async fn messages(
    State(context): State<Arc<UserContext>>,
    target: Result<Path<(String, String)>, PathRejection>,
    request: Request,
) -> Result<impl IntoResponse, Refusal> {
    let (name, channel) = room(target)?;
    check_channel(&channel)?;
    let mut params = Params::of(request.uri())?;
    let (limit, wait, mut after) = (params.limit()?, params.wait()?, params.after()?);
    params.end()?;
    let (user, access) = ask(&context, name, request.headers()).await?;
    let mut waiting = Waiting::new(Arc::clone(&context), &user, access, wait);
    let channels = vec![channel];
    loop {
        let found = look(&context, &user, &channels, after, limit).await?;
        let is_news = !found.page.messages.is_empty() || !found.page.missed.is_empty();
        let is_due = is_news || found.is_anew || found.page.more || waiting.is_late();
        if is_due || !waiting.wait(found.changes.clone()).await? {
            return Ok(answer(found, &channels));
        }
        after = Some(After::Cursor(found.cursor));
    }
}

fn answer(found: Look, channels: &[String]) -> impl IntoResponse + use<> {
    let Look { page, cursor, is_anew, .. } = found;
    let missed = page.missed.first().map(|missed| missed.position.get());
    let gap = match (is_anew, missed) {
        (true, missed) => Some((missed.unwrap_or(0), "new_room")),
        (false, missed) => missed.map(|position| (position, "dropped")),
    };
    let gap = gap.map(|(position, reason)| Gap { channel: None, position, reason });
    let lines = page.messages.into_iter().map(|one| MessageLine::new(one, channels));
    let messages = Messages {
        messages: lines.collect(),
        cursor: cursor.to_string(),
        position: cursor.place.position.get(),
        more: page.more,
        gap,
    };
    (headers(), Json(messages))
}

/// Reads what a user lacks of channels, as a participant of the room.
pub(super) async fn look(
    context: &UserContext,
    user: &User,
    channels: &[String],
    after: Option<After>,
    limit: usize,
) -> Result<Look, Refusal> {
    let (user, channels) = (user.clone(), channels.to_vec());
    let name = user.room.clone();
    let looking =
        context.transports.rooms.with_entered_room(&name, move |driver, now: Duration| {
            let visitor = user.visit(driver, now)?;
            let start = After::start(after, driver);
            let names: Vec<&str> = channels.iter().map(String::as_str).collect();
            let reading =
                Reading { channels: &names, after: start.place, limit, max_bytes: MAX_BYTES };
            let changes = driver.follow();
            let page = driver.room.read(now, visitor, &reading)?;
            let cursor = Cursor::new(driver, page.place, start.people);
            Ok(Look { page, cursor, is_anew: start.is_anew, changes })
        });
    looking.await?
}
