//! A user's request for the participants of a room: `GET /v1/rooms/ROOM/participants`, all of them
//! page by page, or what has changed.

use std::sync::Arc;
use std::time::Duration;

use axum::Json;
use axum::extract::rejection::PathRejection;
use axum::extract::{Path, Request, State};
use axum::response::IntoResponse;
use groupwire_session::ParticipantId;
use groupwire_session::room::{PeopleNews, Tidings};
use serde::Serialize;
use tokio::sync::watch;

use super::answer::{PersonLine, headers};
use super::ask::{User, ask, room};
use super::context::UserContext;
use super::follow::Waiting;
use super::place::{After, Cursor};
use super::query::Params;
use super::refusal::Refusal;

/// Participants, or their changes.
#[derive(Serialize)]
struct Participants {
    participants: Vec<PersonLine>,
    /// How many participants the room has.
    count: usize,
    /// The `from` of the next page; `null` for the last one.
    next: Option<u32>,
    /// True if those who are not in the answer, and in no other page of it, are not in the room.
    complete: bool,
    /// The `after` of a request for changes after this answer.
    cursor: String,
}

pub(super) async fn participants(
    State(context): State<Arc<UserContext>>,
    target: Result<Path<String>, PathRejection>,
    request: Request,
) -> Result<impl IntoResponse, Refusal> {
    let name = room(target)?;
    let mut params = Params::of(request.uri())?;
    let (limit, wait, after) = (params.limit()?, params.wait()?, params.after()?);
    let from = params.number("from", u32::MAX.into())?;
    params.end()?;
    let (user, access) = ask(&context, name, request.headers()).await?;
    let Some(after) = after else {
        let from = ParticipantId(from.unwrap_or(0) as u32);
        return Ok((headers(), Json(page(&context, user, from, limit).await?)));
    };
    let After::Cursor(mut cursor) = after else {
        return Err(Refusal::bad("after: write the cursor of an answer of this path"));
    };
    if from.is_some() {
        return Err(Refusal::bad("write either after or from"));
    }
    let mut waiting = Waiting::new(Arc::clone(&context), &user, access, wait);
    loop {
        let found = look(&context, &user, Some(After::Cursor(cursor))).await?;
        let news = found.news;
        let was_told = news.version == cursor.people;
        cursor = found.cursor;
        let is_news = !news.changed.is_empty() || news.complete || !was_told;
        if is_news || waiting.is_late() || !waiting.wait(found.changes).await? {
            return Ok((headers(), Json(told(news, cursor))));
        }
    }
}

fn told(news: PeopleNews, cursor: Cursor) -> Participants {
    Participants {
        participants: PersonLine::all(news.changed),
        count: news.count,
        next: None,
        complete: news.complete,
        cursor: cursor.to_string(),
    }
}

async fn page(
    context: &UserContext,
    user: User,
    from: ParticipantId,
    limit: usize,
) -> Result<Participants, Refusal> {
    let name = user.room.clone();
    let looking =
        context.transports.rooms.with_entered_room(&name, move |driver, now: Duration| {
            user.visit(driver, now)?;
            // One more tells whether there is another page.
            let after = ParticipantId(from.get().saturating_sub(1));
            let mut people = driver.room.people(after, limit + 1);
            let next = people.get(limit).map(|one| one.id.get());
            people.truncate(limit);
            let (_, _, version) = driver.room.tidings();
            let cursor = Cursor::new(driver, driver.room.newest_place(), version);
            let count = driver.room.count_people();
            let (participants, cursor) = (PersonLine::all(people), cursor.to_string());
            Ok(Participants { participants, count, next, complete: true, cursor })
        });
    looking.await?
}

/// What one look at the participants found.
pub(super) struct Look {
    pub(super) news: PeopleNews,
    pub(super) cursor: Cursor,
    pub(super) changes: watch::Receiver<Tidings>,
}

/// Reads what has changed among the participants, as one of them.
async fn look(context: &UserContext, user: &User, after: Option<After>) -> Result<Look, Refusal> {
    let (user, name) = (user.clone(), user.room.clone());
    let looking =
        context.transports.rooms.with_entered_room(&name, move |driver, now: Duration| {
            user.visit(driver, now)?;
            let start = After::start(after, driver);
            let changes = driver.follow();
            let news = driver.room.people_after(start.people);
            let place = start.place.unwrap_or_default();
            let cursor = Cursor::new(driver, place, news.version);
            Ok(Look { news, cursor, changes })
        });
    looking.await?
}
