//! Clients of one thread.

use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use groupwire_quic::wtransport::quinn::Endpoint;
use tokio::sync::watch;
use tokio::task::{JoinSet, LocalSet};
use tokio::time::{Instant, sleep_until};

use super::follower::Follower;
use super::http3::{News, Quic};
use super::ledger::Tally;
use super::line::{Line, Voice};
use super::member::Member;
use super::message::Pointer;
use super::shared::{Shared, Stage};
use super::speaker::Speaker;
use super::system::Clients;
use super::webtransport;

/// Everybody's.
const ROOM: &str = "fanout";

/// Who a client is.
pub(super) struct Seat {
    pub(super) number: usize,
    /// What it sends.
    pub(super) pointer: Option<Pointer>,
    /// Whether it takes latencies, and decodes at once.
    pub(super) is_sampled: bool,
}

/// Runs clients until all is over; gives what came to each. What went wrong is the shared failure.
pub(super) fn run(shared: &Arc<Shared>, seats: Vec<Seat>) -> Vec<Tally> {
    let runtime = match tokio::runtime::Builder::new_current_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => {
            shared.fail(error.to_string());
            return Vec::new();
        }
    };
    let left: Vec<Voice> = LocalSet::new().block_on(&runtime, async {
        let socket = match shared.clients {
            Clients::WebTransport => webtransport::endpoint().map(Some),
            _ => Ok(None),
        };
        let socket = socket.map_err(|error| shared.fail(error.to_string())).unwrap_or_default();
        let mut clients = JoinSet::new();
        for seat in seats {
            clients.spawn_local(client(Arc::clone(shared), socket.clone(), seat));
        }
        clients.join_all().await.into_iter().flatten().collect()
    });
    // Only now, as who decodes does not answer: the server would give up on those who still listen.
    left.into_iter().map(|voice| finish(voice, shared)).collect()
}

/// A client, until it has left.
async fn client(shared: Arc<Shared>, socket: Option<Endpoint>, mut seat: Seat) -> Option<Voice> {
    let joined = join(&shared, socket.as_ref(), &seat).await;
    let mut end = match joined {
        Ok(end) => end,
        Err(why) => {
            shared.fail(format!("client {} cannot join: {why}", seat.number));
            return None;
        }
    };
    let mut stage = shared.stage.subscribe();
    if let Err(why) = end.live(&shared, &mut seat, &mut stage).await {
        shared.fail(format!("client {}: {why}", seat.number));
    }
    Some(end.leave())
}

/// What came to a client that has left; the next server is measured when all of this one's are done.
fn finish(voice: Voice, shared: &Shared) -> Tally {
    let mut member = match voice {
        Voice::Speaker(speaker) => return speaker.tally,
        Voice::Member(member) => member,
    };
    member.finish(&shared.ledger);
    if let Some(why) = member.failure {
        shared.fail(why);
    }
    member.tally
}

async fn join(shared: &Shared, socket: Option<&Endpoint>, seat: &Seat) -> Result<End, String> {
    let _turn = shared.joining.acquire().await.map_err(|error| error.to_string())?;
    let sender = seat.pointer.is_some().then_some(seat.number);
    let tally = Tally::new(sender, seat.is_sampled);
    let counts = !seat.is_sampled && sender.is_none();
    let member = |counts, tally| Member::new(ROOM, seat.number, counts, tally).map(Box::new);
    let mut end = match shared.clients {
        Clients::Peer(protocol) => {
            let voice = Voice::Speaker(Speaker::new(protocol, seat.number, tally));
            End::Line(Box::new(Line::open(shared, voice).await?))
        }
        Clients::WebSocket => {
            let voice = Voice::Member(member(counts, tally)?);
            End::Line(Box::new(Line::open(shared, voice).await?))
        }
        Clients::WebTransport => {
            let socket = socket.ok_or("it has no socket")?;
            let follower = counts.then(|| Follower::new(seat.number));
            let mut member = member(false, tally)?;
            member.tally.follows = counts;
            End::Quic(Box::new(Quic::open(shared, socket, member, follower).await?))
        }
    };
    while !end.is_ready() {
        let due = end.due(shared);
        end.flush().await?;
        end.turn(shared, due, None).await?;
    }
    shared.one_is_ready();
    Ok(end)
}

/// A client's end of its connection.
enum End {
    Line(Box<Line>),
    Quic(Box<Quic>),
}

impl End {
    /// Until all is over.
    async fn live(
        &mut self,
        shared: &Shared,
        seat: &mut Seat,
        stage: &mut watch::Receiver<Stage>,
    ) -> Result<(), String> {
        let mut next = None;
        loop {
            let due = self.due(shared);
            self.flush().await?;
            // Neither branch loses anything if the other is taken. That it is over is seen first: what happens then is
            // no matter any more.
            tokio::select! {
                biased;
                changed = stage.changed() => {
                    changed.map_err(|error| error.to_string())?;
                    next = match *stage.borrow_and_update() {
                        Stage::Over => return Ok(()),
                        // One after the other, so that the server is not asked for all at once.
                        Stage::Sending(start) if seat.pointer.is_some() => {
                            let places = shared.ledger.senders() as u64;
                            Some(start + seat.number as u64 * shared.interval / places)
                        }
                        _ => None,
                    };
                }
                turn = self.turn(shared, due, next) => if turn? {
                    next = self.say(shared, seat, next);
                },
            }
        }
    }

    /// Sends the message that is due, and gives when the next one is.
    fn say(&mut self, shared: &Shared, seat: &mut Seat, due: Option<u64>) -> Option<u64> {
        let (due, pointer) = (due?, seat.pointer.as_mut()?);
        let unix = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let (name, message) = pointer.next(u64::try_from(unix.as_millis()).unwrap_or_default());
        if !shared.ledger.send(name, &message) {
            return None;
        }
        match self {
            End::Line(line) => line.say(shared, &message),
            End::Quic(quic) => quic.say(shared, &message),
        }
        Some(due + shared.interval)
    }

    /// When the client wants to be woken, by the ledger's clock.
    fn due(&mut self, shared: &Shared) -> Option<u64> {
        match self {
            End::Line(line) => line.due(shared),
            End::Quic(quic) => quic.due(shared),
        }
    }

    /// Waits for the next happening and sees to it. `true`: the time `until` has come.
    async fn turn(
        &mut self,
        shared: &Shared,
        due: Option<u64>,
        until: Option<u64>,
    ) -> Result<bool, String> {
        let soonest = due.into_iter().chain(until).min();
        let timer = async {
            match soonest {
                Some(at) => {
                    let left = at.saturating_sub(shared.ledger.now());
                    sleep_until(Instant::now() + Duration::from_nanos(left)).await;
                }
                None => std::future::pending().await,
            }
        };
        match self {
            End::Line(line) => tokio::select! {
                readable = line.readable() => {
                    readable?;
                    line.read(shared)?;
                }
                () = timer => {}
            },
            End::Quic(quic) => {
                let mut news: Option<News> = None;
                tokio::select! {
                    next = quic.next() => news = Some(next?),
                    () = timer => {}
                }
                if let Some(news) = news {
                    quic.take(shared, news)?;
                }
            }
        }
        let now = shared.ledger.now();
        if due.is_some_and(|due| due <= now) {
            match self {
                End::Line(line) => line.wake(shared),
                End::Quic(quic) => quic.wake(shared),
            }
        }
        Ok(until.is_some_and(|until| until <= now))
    }

    async fn flush(&mut self) -> Result<(), String> {
        match self {
            End::Line(line) => line.flush().await,
            End::Quic(quic) => quic.flush().await,
        }
    }

    fn is_ready(&self) -> bool {
        match self {
            End::Line(line) => line.is_ready(),
            End::Quic(quic) => quic.member.is_ready,
        }
    }

    /// Closes the connection.
    fn leave(self) -> Voice {
        match self {
            End::Line(line) => line.voice,
            End::Quic(quic) => Voice::Member(quic.member),
        }
    }
}
