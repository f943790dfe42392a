//! The clients that run on one thread.

use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use groupwire_quic::wtransport::quinn::Endpoint;
use tokio::sync::watch;
use tokio::task::{JoinSet, LocalSet};
use tokio::time::{Instant, sleep_until};

use super::follower::Follower;
use super::http3::{News, Quic};
use super::ledger::Tally;
use super::member::Member;
use super::message::Pointer;
use super::peer_client::PeerClient;
use super::socket::{Role, SocketClient};
use super::state::{FanoutState, Stage};
use super::system::Clients;
use super::webtransport;

/// The number and role of a client.
pub(crate) struct Seat {
    pub(crate) number: usize,
    /// The port of the server that the client connects to.
    pub(crate) port: u16,
    /// The pointer that the client sends, if it is a sender.
    pub(crate) pointer: Option<Pointer>,
    /// Whether the client measures latencies, and decodes at once.
    pub(crate) is_sampled: bool,
}

/// Runs clients until the last stage, and returns what each received. Failures go to the shared
/// state.
pub(crate) fn run(shared: &Arc<FanoutState>, seats: Vec<Seat>) -> Vec<Tally> {
    let runtime = match tokio::runtime::Builder::new_current_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => {
            shared.fail(error.to_string());
            return Vec::new();
        }
    };
    let left: Vec<Role> = LocalSet::new().block_on(&runtime, async {
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
    // Decoding comes last, because a client that decodes does not answer, and the server would
    // close connections that still listen.
    left.into_iter().map(|role| finish(role, shared)).collect()
}

/// Runs a client until it has left.
async fn client(
    shared: Arc<FanoutState>,
    socket: Option<Endpoint>,
    mut seat: Seat,
) -> Option<Role> {
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

/// Decodes what a client received that has left. The next server is measured when all clients of
/// this one have done this.
fn finish(role: Role, shared: &FanoutState) -> Tally {
    let mut member = match role {
        Role::PeerClient(peer) => return peer.tally,
        Role::Member(member) => member,
    };
    member.finish(&shared.ledger);
    if let Some(why) = member.failure {
        shared.fail(why);
    }
    member.tally
}

async fn join(shared: &FanoutState, socket: Option<&Endpoint>, seat: &Seat) -> Result<End, String> {
    let _turn = shared.joining.acquire().await.map_err(|error| error.to_string())?;
    let sender = seat.pointer.is_some().then_some(seat.number);
    let tally = Tally::new(sender, seat.is_sampled);
    let counts = !seat.is_sampled && sender.is_none();
    let member =
        |counts, tally| Member::new(&shared.room, seat.number, counts, tally).map(Box::new);
    let mut end = match shared.clients {
        Clients::Peer(protocol) => {
            let role = Role::PeerClient(PeerClient::new(protocol, seat.number, tally));
            End::Socket(Box::new(SocketClient::open(shared, seat.port, role).await?))
        }
        Clients::WebSocket => {
            let role = Role::Member(member(counts, tally)?);
            End::Socket(Box::new(SocketClient::open(shared, seat.port, role).await?))
        }
        Clients::WebTransport => {
            let socket = socket.ok_or("it has no socket")?;
            let follower = counts.then(|| Follower::new(seat.number));
            let mut member = member(false, tally)?;
            member.tally.follows = counts;
            End::Quic(Box::new(Quic::open(shared, (socket, seat.port), member, follower).await?))
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
    Socket(Box<SocketClient>),
    Quic(Box<Quic>),
}

impl End {
    /// Runs the connection until the last stage.
    async fn live(
        &mut self,
        shared: &FanoutState,
        seat: &mut Seat,
        stage: &mut watch::Receiver<Stage>,
    ) -> Result<(), String> {
        let mut next = None;
        loop {
            let due = self.due(shared);
            self.flush().await?;
            // Neither branch loses data if the other one is taken. The end is noticed first: later
            // events do not matter any more.
            tokio::select! {
                biased;
                changed = stage.changed() => {
                    changed.map_err(|error| error.to_string())?;
                    next = match *stage.borrow_and_update() {
                        Stage::Over => return Ok(()),
                        // Senders begin one after the other, so that the server does not get all
                        // messages at once.
                        Stage::Sending(start) if seat.pointer.is_some() => {
                            let places = shared.ledger.senders() as u64;
                            Some(start + seat.number as u64 * shared.interval / places)
                        }
                        _ => None,
                    };
                }
                turn = self.turn(shared, due, next) => if turn? {
                    next = self.send_message(shared, seat, next);
                },
            }
        }
    }

    /// Sends the message that is due, and returns when the next one is.
    fn send_message(
        &mut self,
        shared: &FanoutState,
        seat: &mut Seat,
        due: Option<u64>,
    ) -> Option<u64> {
        let (due, pointer) = (due?, seat.pointer.as_mut()?);
        let unix = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let (name, message) = pointer.next(u64::try_from(unix.as_millis()).unwrap_or_default());
        if !shared.ledger.send(name, &message) {
            return None;
        }
        match self {
            End::Socket(socket) => socket.send_message(shared, &message),
            End::Quic(quic) => quic.send_message(shared, &message),
        }
        Some(due + shared.interval)
    }

    /// The time of the client's next timeout, by the ledger's clock.
    fn due(&mut self, shared: &FanoutState) -> Option<u64> {
        match self {
            End::Socket(socket) => socket.due(shared),
            End::Quic(quic) => quic.due(shared),
        }
    }

    /// Waits for the next event and handles it. Returns true if the time `until` has come.
    async fn turn(
        &mut self,
        shared: &FanoutState,
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
            End::Socket(socket) => tokio::select! {
                readable = socket.readable() => {
                    readable?;
                    socket.read(shared)?;
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
                End::Socket(socket) => socket.wake(shared),
                End::Quic(quic) => quic.wake(shared),
            }
        }
        Ok(until.is_some_and(|until| until <= now))
    }

    async fn flush(&mut self) -> Result<(), String> {
        match self {
            End::Socket(socket) => socket.flush().await,
            End::Quic(quic) => quic.flush().await,
        }
    }

    fn is_ready(&self) -> bool {
        match self {
            End::Socket(socket) => socket.is_ready(),
            End::Quic(quic) => quic.member.is_ready,
        }
    }

    /// Closes the connection.
    fn leave(self) -> Role {
        match self {
            End::Socket(socket) => socket.role,
            End::Quic(quic) => Role::Member(quic.member),
        }
    }
}
