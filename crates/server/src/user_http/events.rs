//! A user's request for a stream of events: `GET /v1/rooms/ROOM/events`. Nothing is queued for a
//! client that reads slowly: it gets what is newest when it has taken what it was sent before, and
//! its stream ends if it takes nothing for a while.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::extract::rejection::PathRejection;
use axum::extract::{Path, Request, State};
use axum::http::HeaderName;
use axum::response::IntoResponse;
use futures_util::stream::unfold;
use groupwire_session::room::{Page, PeopleNews, Place, Reading, Tidings};
use tokio::sync::{mpsc, watch};
use tokio::time::{Instant, timeout};

use super::answer::{PersonLine, stream_headers};
use super::ask::{User, ask, check_channel, over, room};
use super::context::UserContext;
use super::follow::{Woken, news};
use super::frames::Events;
use super::place::{After, Cursor};
use super::query::Params;
use super::read::MAX_BYTES;
use super::refusal::Refusal;
use crate::access::Access;

/// Most channels of a stream.
const MOST_CHANNELS: usize = 16;

/// Most messages that are read at once.
const AT_ONCE: usize = 500;

/// The longest time without a sign of life: proxies close a connection that is silent for a minute,
/// some for half of it.
const HEARTBEAT: Duration = Duration::from_secs(15);

/// A stream ends whose client has taken nothing for this long.
const SLOW: Duration = Duration::from_secs(20);

/// How long the last event waits for the client.
const LAST: Duration = Duration::from_secs(1);

const LAST_EVENT_ID: HeaderName = HeaderName::from_static("last-event-id");

/// A stream of one client.
struct Stream {
    context: Arc<UserContext>,
    user: User,
    channels: Vec<String>,
    /// True if the stream has the event `presence`.
    presence: bool,
    after: Option<After>,
    out: mpsc::Sender<Bytes>,
}

/// What one look at a room found.
struct Look {
    participant: u32,
    page: Page,
    people: Option<PeopleNews>,
    is_anew: bool,
    /// The place before the page, and after it.
    before: Cursor,
    cursor: Cursor,
    changes: watch::Receiver<Tidings>,
}

pub(super) async fn events(
    State(context): State<Arc<UserContext>>,
    target: Result<Path<String>, PathRejection>,
    request: Request,
) -> Result<impl IntoResponse, Refusal> {
    let name = room(target)?;
    let mut params = Params::of(request.uri())?;
    let (mut channels, presence) = (params.all("channel"), params.is_set("presence")?);
    let mut after = params.after()?;
    params.end()?;
    channels.iter().try_for_each(|channel| check_channel(channel))?;
    channels.sort_unstable();
    channels.dedup();
    if channels.len() > MOST_CHANNELS || (channels.is_empty() && !presence) {
        let why = format!("name 1 to {MOST_CHANNELS} channels with channel=NAME, or presence=true");
        return Err(Refusal::bad(why));
    }
    // A browser sends it when it connects again, with the address that it had before.
    if let Some(id) = request.headers().get(LAST_EVENT_ID).filter(|id| !id.is_empty()) {
        after = Some(After::read(id.to_str().unwrap_or("-"))?);
    }
    let (user, access) = ask(&context, name, request.headers()).await?;
    let (out, chunks) = mpsc::channel(1);
    let mut stream = Stream { context, user, channels, presence, after, out };
    // The first look is made before the answer begins, so that a refusal has its status.
    let first = stream.look().await?;
    tokio::spawn(stream.run(first, access));
    let chunks = unfold(chunks, async |mut chunks| {
        Some((Ok::<_, Infallible>(chunks.recv().await?), chunks))
    });
    Ok((stream_headers(), Body::from_stream(chunks)))
}

impl Stream {
    /// Sends events until the client goes, or has to.
    async fn run(mut self, first: Look, access: Access) {
        let (context, out) = (Arc::clone(&self.context), self.out.clone());
        let drain = Arc::clone(&context.transports.rooms.context().drain);
        let over = over(Arc::clone(&context), self.user.room.clone(), access);
        let end = tokio::select! {
            // A room that ends with its server has not moved.
            biased;
            _ = drain.due() => Refusal::stopping(drain.take_times(1)),
            refusal = self.follow(first) => match refusal {
                Some(refusal) => refusal,
                None => return,
            },
            error = over => error.into(),
            () = out.closed() => return,
        };
        // A banned user, and one without the right, would be refused again.
        let detail = match end.code {
            "banned" | "not_allowed" | "no_channel" => end.detail,
            _ => format!("{}; connect again with the header Last-Event-ID", end.detail),
        };
        let mut last = Events::default();
        last.end(end.code, &detail, end.retry);
        let _ = timeout(LAST, out.send(last.bytes())).await;
    }

    /// Sends events until that is not possible any more. `None` if the client takes nothing.
    async fn follow(&mut self, first: Look) -> Option<Refusal> {
        let timing = self.context.transports.rooms.context().config.timing;
        // The participant stays in the room while its stream is open.
        let heartbeat = HEARTBEAT.min(timing.away / 2);
        let mut found = first;
        let mut is_first = true;
        let mut said = Instant::now();
        loop {
            let (more, changes) = (found.page.more, found.changes.clone());
            let mut events = Events::default();
            let cursor = found.cursor;
            self.tell(found, is_first, &mut events);
            is_first = false;
            if events.is_empty() && said.elapsed() >= heartbeat {
                events.heartbeat(&cursor);
            }
            if !events.is_empty() {
                let sent = timeout(SLOW, self.out.send(events.bytes())).await;
                if !matches!(sent, Ok(Ok(()))) {
                    return None;
                }
                said = Instant::now();
            }
            if !more {
                let until = said + heartbeat;
                match news(changes, timing.tick, until).await {
                    Woken::News | Woken::Late => {}
                    Woken::Ended => return Some(Refusal::moving()),
                }
            }
            found = match self.look().await {
                Ok(found) => found,
                Err(refusal) => return Some(refusal),
            };
        }
    }

    /// Writes what was found as events.
    fn tell(&self, found: Look, is_first: bool, events: &mut Events) {
        let Look { participant, page, people, is_anew, before, cursor, .. } = found;
        if is_first {
            events.ready(participant, &before);
        }
        if is_anew {
            events.new_room();
        }
        events.messages(page, &self.channels, before);
        if let Some(PeopleNews { changed, complete, count, .. }) = people {
            events.presence(PersonLine::all(changed), complete, count, &cursor);
        }
    }

    /// Reads what the client lacks, as a participant of the room.
    async fn look(&mut self) -> Result<Look, Refusal> {
        let (user, channels) = (self.user.clone(), self.channels.clone());
        let (after, presence) = (self.after, self.presence);
        let name = user.room.clone();
        let rooms = &self.context.transports.rooms;
        let looking = rooms.with_entered_room(&name, move |driver, now: Duration| {
            let participant = user.visit(driver, now)?;
            let start = After::start(after, driver);
            // A client that says nothing is sent all values, and transactions from now on.
            let place = start.place.unwrap_or_else(|| Place {
                position: driver.room.newest_place().position,
                ..Place::default()
            });
            let names: Vec<&str> = channels.iter().map(String::as_str).collect();
            let reading = Reading {
                channels: &names,
                after: Some(place),
                limit: AT_ONCE,
                max_bytes: MAX_BYTES,
            };
            let changes = driver.follow();
            let page = driver.room.read(now, participant, &reading)?;
            let news = presence.then(|| driver.room.people_after(start.people));
            let version = news.as_ref().map_or(start.people, |news| news.version);
            let people = news.filter(|news| news.version != start.people);
            let before = Cursor::new(driver, place, start.people);
            let cursor = Cursor::new(driver, page.place, version);
            let (participant, is_anew) = (participant.get(), start.is_anew);
            Ok::<_, Refusal>(Look { participant, page, people, is_anew, before, cursor, changes })
        });
        let found = looking.await??;
        self.after = Some(After::Cursor(found.cursor));
        Ok(found)
    }
}
