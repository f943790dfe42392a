//! The edge's end: connections to this server whose rooms are on another one.

use std::collections::{HashMap, HashSet, VecDeque};
use std::io;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use axum::body::Bytes;
use futures_util::FutureExt;
use groupwire_quic::Fate;
use groupwire_session::room::SharedPacket;
use groupwire_session::{Error, LinkId, goodbye};
use tokio::io::{AsyncRead, AsyncWrite, ReadHalf, WriteHalf, split};
use tokio::sync::mpsc::UnboundedReceiver;
use tokio::time::{Instant, timeout};

use super::super::figures::Counters;
use super::frames::{Join, MAX_HEAD, MAX_SHARING, ToEdge, ToOwner};
use super::greeting::greet;
use super::pipe::Pipe;
use super::transport_number;
use crate::ends::conn_info::IN_PROCESS;
use crate::ends::framing::Framed;
use crate::rooms::task::{Close, Connection, Deliveries, Message, Permit};

/// How long connecting to the owner and its greeting may take.
const CONNECTING: Duration = Duration::from_secs(3);

/// The clients of a server that cannot be reached come back after this time. Meanwhile another
/// server takes the place of one that has ended.
const BACK: Duration = Duration::from_secs(1);

/// The longest time for which nothing is read from a client. The room asks for a second at most.
const LONGEST_HOLD: Duration = Duration::from_secs(5);

/// Most messages handled in one turn.
const BATCH: usize = 256;

/// Passes the messages of connections on to their owner until the owner is gone or nobody can send
/// messages any more. `names`: those of this server and of the owner. Afterwards every connection
/// is told when to come back.
pub(in crate::cluster) async fn run<S: AsyncRead + AsyncWrite + Send + 'static>(
    connecting: impl Future<Output = io::Result<S>> + Send,
    mut messages: UnboundedReceiver<Message>,
    names: (&str, &str),
    max_packet: usize,
    counters: Arc<Counters>,
) {
    let mut edge = EdgeTask::new(counters);
    let outcome = edge.pass_on(connecting, &mut messages, names, max_packet).await;
    if let Err(why) = outcome {
        tracing::warn!(server = names.1, why, "the connection to a server ended");
    }
    messages.close();
    while let Ok(message) = messages.try_recv() {
        match message {
            Message::Join { connection, .. } | Message::Mirror { connection, .. } => {
                defer(&connection);
            }
            Message::Closed { link } => drop(edge.deliveries.connections.remove(link)),
            _ => {}
        }
    }
    edge.counters.relayed.fetch_sub(edge.unread.len(), Ordering::Relaxed);
    for link in edge.unread.into_keys() {
        edge.deliveries.connections.get(link).into_iter().for_each(defer);
    }
}

fn defer(connection: &Connection) {
    connection.outlet.close(Close { packet: goodbye(BACK), reason: None });
}

/// The connections whose rooms one other server has.
struct EdgeTask {
    pipe: Arc<Pipe>,
    deliveries: Deliveries,
    /// The permits of packets and datagrams that the room has not handled, by connection. A
    /// connection that the room has closed is here until its task has ended.
    unread: HashMap<LinkId, VecDeque<Permit>>,
    /// Connections that have sent a packet in this turn.
    sent: Vec<u64>,
    counters: Arc<Counters>,
}

impl EdgeTask {
    fn new(counters: Arc<Counters>) -> Self {
        EdgeTask {
            pipe: Arc::default(),
            deliveries: Deliveries::default(),
            unread: HashMap::new(),
            sent: Vec::new(),
            counters,
        }
    }

    async fn pass_on<S: AsyncRead + AsyncWrite + Send + 'static>(
        &mut self,
        connecting: impl Future<Output = io::Result<S>> + Send,
        messages: &mut UnboundedReceiver<Message>,
        names: (&str, &str),
        max_packet: usize,
    ) -> Result<(), String> {
        let connected = timeout(CONNECTING, connect(connecting, names, max_packet)).await;
        let (mut frames, write) = connected.map_err(|_| "it does not answer".to_owned())??;
        tracing::info!(server = names.1, "connected to a server");
        let pipe = Arc::clone(&self.pipe);
        let counters = Arc::clone(&self.counters);
        let mut writing = pin!(pipe.write(write, &counters.relayed_bytes));
        let mut batch = Vec::new();
        loop {
            tokio::select! {
                biased;
                () = &mut writing => return Err("it takes nothing more".to_owned()),
                count = messages.recv_many(&mut batch, BATCH) => match count {
                    0 => return Ok(()),
                    _ => batch.drain(..).for_each(|message| self.on_message(message)),
                },
                frame = frames.next() => {
                    self.on_frame(read(frame)?);
                    // Frames that have arrived together share a turn.
                    for _ in 1..BATCH {
                        let Some(frame) = frames.next().now_or_never() else { break };
                        self.on_frame(read(frame)?);
                    }
                }
            }
            self.end_turn();
        }
    }

    /// Passes a message of a connection's task on.
    fn on_message(&mut self, message: Message) {
        let frame = match message {
            Message::Join { link, opening, identity, connection } => {
                let transport = connection.info.transport;
                let max_datagram = connection.outlet.max_datagram() as u64;
                self.deliveries.connections.insert(link, *connection);
                self.unread.insert(link, VecDeque::new());
                self.counters.relayed.fetch_add(1, Ordering::Relaxed);
                ToOwner::Join(Join {
                    link: link.0,
                    transport: transport_number(transport),
                    is_own: transport == IN_PROCESS,
                    max_datagram,
                    identity,
                    opening,
                })
            }
            Message::Mirror { link, room, connection } => {
                self.deliveries.connections.insert(link, *connection);
                self.unread.insert(link, VecDeque::new());
                self.counters.relayed.fetch_add(1, Ordering::Relaxed);
                ToOwner::Mirror { link: link.0, room }
            }
            Message::Packet { link, packet, _permit } => {
                self.hold(link, _permit);
                ToOwner::Packet { link: link.0, packet }
            }
            Message::Datagram { link, packet, _permit } => {
                self.hold(link, _permit);
                ToOwner::Datagram { link: link.0, packet }
            }
            Message::Sent { link } => return self.sent.push(link.0),
            Message::DatagramGone { link, fate } => ToOwner::DatagramGone { link: link.0, fate },
            Message::Fail { link, error } => ToOwner::Fail { link: link.0, error },
            Message::Renewed { link, identity } => ToOwner::Renewed { link: link.0, identity },
            Message::TokenWanted { link } => ToOwner::TokenWanted { link: link.0 },
            Message::Closed { link } => {
                self.deliveries.connections.remove(link);
                self.deliveries.shrink();
                if self.unread.remove(&link).is_some() {
                    self.counters.relayed.fetch_sub(1, Ordering::Relaxed);
                }
                ToOwner::Closed { link: link.0 }
            }
            // These go to the task of a room, and connections send none of them.
            Message::Owner { .. }
            | Message::SentAll { .. }
            | Message::Shutdown
            | Message::Store(_)
            | Message::EndStored
            | Message::Moved
            | Message::MakeWay
            | Message::Stats { .. }
            | Message::Call(_) => return debug_assert!(false, "a message for a room's task"),
        };
        self.pipe.put(|out| frame.write(out));
    }

    fn hold(&mut self, link: LinkId, permit: Permit) {
        if let Some(unread) = self.unread.get_mut(&link) {
            unread.push_back(permit);
        }
    }

    /// Carries out what the room's server says of a connection.
    fn on_frame(&mut self, frame: ToEdge) {
        let deliveries = &mut self.deliveries;
        match frame {
            ToEdge::Packet { link, packet } => deliveries.send(LinkId(link), packet.to_vec(), None),
            ToEdge::Shared { links, packet } => self.send_shared(&links, &packet),
            ToEdge::Close { link, reason, packet } => {
                self.write_all();
                self.deliveries.close(LinkId(link), packet.to_vec(), reason);
            }
            ToEdge::Deferred { link, retry } => {
                deliveries.close(LinkId(link), goodbye(retry), None);
            }
            ToEdge::Datagram { link, needs, packet } => {
                if !deliveries.send_datagram(LinkId(link), packet.to_vec(), needs) {
                    let gone = ToOwner::DatagramGone { link, fate: Fate::Dropped };
                    self.pipe.put(|out| gone.write(out));
                }
            }
            ToEdge::SharedDatagram { link, packet } => {
                deliveries.send_shared_datagram(LinkId(link), [&packet, &[]]);
            }
            ToEdge::Hold { link, time } => {
                if let Some(connection) = deliveries.connections.get(LinkId(link)) {
                    connection.outlet.hold(Instant::now() + time.min(LONGEST_HOLD));
                }
            }
            ToEdge::Token { link, token } => {
                if let Some(connection) = deliveries.connections.get(LinkId(link)) {
                    connection.outlet.token(token.into());
                }
            }
            ToEdge::Handled { link, count } => {
                if let Some(unread) = self.unread.get_mut(&LinkId(link)) {
                    let count = usize::try_from(count).unwrap_or(usize::MAX).min(unread.len());
                    unread.drain(..count);
                }
            }
        }
    }

    fn send_shared(&mut self, links: &[u64], packet: &[u8]) {
        self.write_all();
        let links: Vec<LinkId> = links.iter().map(|&link| LinkId(link)).collect();
        let shared = SharedPacket { links, packet: packet.into() };
        let unsent: HashSet<LinkId> = self.deliveries.send_shared(&shared).into_iter().collect();
        let sent = shared.links.iter().filter(|link| !unsent.contains(link));
        self.sent.extend(sent.map(|link| link.0));
    }

    fn write_all(&mut self) {
        let EdgeTask { deliveries, sent, .. } = self;
        deliveries.write_all(|link| sent.push(link.0));
    }

    /// Writes what the turn has brought, and tells the owner which packets were sent.
    fn end_turn(&mut self) {
        self.write_all();
        for links in self.sent.chunks(MAX_SHARING) {
            self.pipe.put(|out| ToOwner::write_sent(links, out));
        }
        self.sent.clear();
    }
}

/// Connects to the owner, and greets it.
async fn connect<S: AsyncRead + AsyncWrite + Send + 'static>(
    connecting: impl Future<Output = io::Result<S>> + Send,
    names: (&str, &str),
    max_packet: usize,
) -> Result<(Framed<ReadHalf<S>>, WriteHalf<S>), String> {
    let (read, mut write) = split(connecting.await.map_err(|error| error.to_string())?);
    let mut frames = Framed::new(read, max_packet + MAX_HEAD);
    greet(&mut write, &mut frames, names).await.map_err(|error| error.to_string())?;
    Ok((frames, write))
}

/// Reads what the owner sent.
fn read(frame: Result<Option<Bytes>, Error>) -> Result<ToEdge, String> {
    match frame {
        Ok(Some(frame)) => ToEdge::read(frame).map_err(|error| error.to_string()),
        Ok(None) => Err("it closed the connection".to_owned()),
        Err(error) => Err(error.to_string()),
    }
}
