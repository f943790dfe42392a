//! The owner's end: connections of clients at an edge join rooms of this server.

use std::cell::Cell;
use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use axum::body::Bytes;
use groupwire_session::{Error, LinkId, Opening, refusal};
use tokio::io::{AsyncRead, AsyncWrite, split};
use tokio::sync::mpsc::UnboundedSender;
use tokio::time::{Instant, timeout};

use super::super::figures::Counters;
use super::direct::Direct;
use super::fields::Malformed;
use super::frames::{
    Join, MAX_HEAD, MAX_SHARING, ToEdge, ToOwner, write_packet, write_shared, write_shared_datagram,
};
use super::greeting::{NotGreeted, answer};
use super::pipe::Pipe;
use super::{has_address, transport_name};
use crate::ends::Datagram;
use crate::ends::conn_info::{ConnInfo, MIRROR};
use crate::ends::framing::Framed;
use crate::rooms::directory::Directory;
use crate::rooms::location::Location;
use crate::rooms::refused::NotJoined;
use crate::rooms::task::{Close, Connection, Edge, EdgePermit, Message, Outlet, Permit};
use crate::traces::{JoinTrace, Span};

/// How long an edge may take to greet.
const GREETING: Duration = Duration::from_secs(5);

/// The most packets and datagrams of one client that an edge sends before the room has handled
/// them.
pub(super) const MAX_UNREAD: usize = 16;

/// The clients of a room that has moved come back after this time.
const MOVED: Duration = Duration::from_millis(200);

/// The server whose rooms clients of edges join.
pub(in crate::cluster) struct Host {
    pub(in crate::cluster) name: String,
    pub(in crate::cluster) directory: Arc<Directory>,
    pub(in crate::cluster) counters: Arc<Counters>,
    /// `None` if clients reach this server only over others.
    pub(in crate::cluster) direct: Option<Direct>,
}

/// Serves the connection of an edge until it ends.
///
/// # Errors
/// The edge is not greeted. What comes later ends the connection, and is logged.
pub(in crate::cluster) async fn serve(
    stream: impl AsyncRead + AsyncWrite + Send + 'static,
    host: &Host,
) -> Result<(), NotGreeted> {
    let (read, mut write) = split(stream);
    let max_packet = host.directory.context().config.limits.max_packet;
    let mut frames = Framed::new(read, max_packet + MAX_HEAD);
    let greeting = timeout(GREETING, answer(&mut write, &mut frames, &host.name));
    let edge = greeting.await.map_err(|_| NotGreeted::Broken)??;
    tracing::info!(edge, "server connected");
    let end = Arc::new(EdgeEnd { pipe: Pipe::default(), unread: AtomicUsize::new(0) });
    let mut owner = Owner { host, end: Arc::clone(&end), links: HashMap::new() };
    tokio::select! {
        () = end.pipe.write(write, &host.counters.relayed_bytes) => {}
        outcome = owner.read(&mut frames) => match outcome {
            Ok(()) => {}
            Err(error) => tracing::warn!(edge, %error, "connection of a server closed"),
        }
    }
    end.pipe.close();
    for (_, OwnedLink { link, room }) in owner.links {
        let _ = room.send(Message::Closed { link });
    }
    tracing::info!(edge, "server disconnected");
    Ok(())
}

struct Owner<'a> {
    host: &'a Host,
    end: Arc<EdgeEnd>,
    /// The connections at the edge by their numbers there.
    links: HashMap<u64, OwnedLink>,
}

/// A connection at the edge that has joined a room of this server.
struct OwnedLink {
    link: LinkId,
    room: UnboundedSender<Message>,
}

impl Owner<'_> {
    async fn read(&mut self, frames: &mut Framed<impl AsyncRead + Unpin>) -> Result<(), Malformed> {
        while let Some(frame) = frames.next().await.map_err(|_| Malformed("too large"))? {
            self.take(ToOwner::read(frame)?)?;
        }
        Ok(())
    }

    fn take(&mut self, frame: ToOwner) -> Result<(), Malformed> {
        match frame {
            ToOwner::Join(join) => return self.join(join),
            ToOwner::Mirror { link, room } => {
                return self.let_in(link, |owner| owner.mirror(link, room));
            }
            ToOwner::Packet { link, packet } => {
                let _permit = self.permit(link)?;
                self.pass_on(link, |link| Message::Packet { link, packet, _permit });
            }
            ToOwner::Datagram { link, packet } => {
                let _permit = self.permit(link)?;
                self.pass_on(link, |link| Message::Datagram { link, packet, _permit });
            }
            ToOwner::Sent { links } => self.sent(&links),
            ToOwner::DatagramGone { link, fate } => {
                self.pass_on(link, |link| Message::DatagramGone { link, fate });
            }
            ToOwner::Fail { link, error } => {
                self.pass_on(link, |link| Message::Fail { link, error })
            }
            ToOwner::Renewed { link, identity } => {
                self.pass_on(link, |link| Message::Renewed { link, identity });
            }
            ToOwner::TokenWanted { link } => {
                self.pass_on(link, |link| Message::TokenWanted { link })
            }
            ToOwner::Closed { link } => {
                self.pass_on(link, |link| Message::Closed { link });
                self.links.remove(&link);
            }
        }
        Ok(())
    }

    /// Tells the connection's room. A connection that is not known has been refused, and its edge
    /// does not know that yet.
    fn pass_on(&self, link: u64, message: impl FnOnce(LinkId) -> Message) {
        if let Some(OwnedLink { link, room }) = self.links.get(&link) {
            let _ = room.send(message(*link));
        }
    }

    /// Reports sent packets to rooms, in one message for each run of connections of one room.
    fn sent(&self, links: &[u64]) {
        let mut known = links.iter().filter_map(|link| self.links.get(link)).peekable();
        while let Some(OwnedLink { link, room }) = known.next() {
            let mut links = vec![*link];
            let is_next = |next: &&OwnedLink| next.room.same_channel(room);
            while let Some(next) = known.next_if(is_next) {
                links.push(next.link);
            }
            let _ = room.send(Message::SentAll { links });
        }
    }

    fn permit(&self, link: u64) -> Result<Permit, Malformed> {
        let unread = self.end.unread.fetch_add(1, Ordering::Relaxed);
        // Packets of connections that were refused are among them.
        if unread >= (self.links.len() + 1) * MAX_UNREAD * 2 {
            return Err(Malformed("more packets than a server may send at once"));
        }
        let edge: Arc<dyn Edge> = self.end.clone();
        Ok(Permit::Edge { _permit: EdgePermit::new(edge, link) })
    }

    fn join(&mut self, join: Join) -> Result<(), Malformed> {
        self.let_in(join.link, |owner| owner.hand_over(join))
    }

    fn let_in(
        &mut self,
        number: u64,
        hand_over: impl FnOnce(&Self) -> Result<OwnedLink, NotJoined>,
    ) -> Result<(), Malformed> {
        if self.links.contains_key(&number) {
            return Err(Malformed("a connection joins twice"));
        }
        match hand_over(self) {
            Ok(owned) => drop(self.links.insert(number, owned)),
            Err(NotJoined::Stopping { retry } | NotJoined::Deferred { retry }) => {
                self.end.pipe.put(|out| ToEdge::Deferred { link: number, retry }.write(out));
            }
            Err(NotJoined::Refused(error)) => {
                self.host.directory.context().events.refusals.count(&error);
                self.end.close(number, &refusal(&error), Some(error));
            }
        }
        Ok(())
    }

    fn hand_over(&self, join: Join) -> Result<OwnedLink, NotJoined> {
        let Join { link: number, transport, is_own, max_datagram, identity, opening } = join;
        let name = Opening::read(&opening)?.room().to_owned();
        let Host { directory, direct, .. } = self.host;
        // The edge may have learned later than this server that the room has moved.
        let Location::Here(room) = directory.locate(&name) else {
            return Err(NotJoined::Deferred { retry: MOVED });
        };
        let max_datagram = usize::try_from(max_datagram).unwrap_or(usize::MAX);
        let connection = self.connection(number, max_datagram, transport_name(transport));
        let identity = if is_own { directory.own_identity() } else { identity };
        let link = directory.next_link();
        let room = room.join(Message::Join { link, opening, identity, connection })?;
        if let Some(direct) = direct.as_ref().filter(|_| has_address(transport_name(transport))) {
            let _ = room.send(Message::Owner { link, owner: Box::new(direct.owner()) });
        }
        Ok(OwnedLink { link, room })
    }

    /// Hands a mirror of a room over to it.
    fn mirror(&self, number: u64, room: String) -> Result<OwnedLink, NotJoined> {
        let directory = &self.host.directory;
        let Location::Here(local) = directory.locate(&room) else {
            return Err(NotJoined::Deferred { retry: MOVED });
        };
        let (link, connection) = (directory.next_link(), self.connection(number, 0, MIRROR));
        let joins = Message::Mirror { link, room: room.clone(), connection };
        Ok(OwnedLink { link, room: local.join(joins)? })
    }

    /// The connection with this number at the edge, as a room knows it.
    fn connection(
        &self,
        number: u64,
        max_datagram: usize,
        transport: &'static str,
    ) -> Box<Connection> {
        let outlet = EdgeOutlet {
            end: self.end.clone(),
            edge: self.end.clone(),
            link: number,
            max_datagram,
            is_closed: Cell::new(false),
        };
        Box::new(Connection {
            outlet: Box::new(outlet),
            socket_writer: None,
            trace: JoinTrace { join: Span::NONE, room: Span::NONE },
            opened_at: Instant::now(),
            handed_over_at: Instant::now(),
            info: ConnInfo { transport, path: None },
        })
    }
}

/// The sending end to an edge.
struct EdgeEnd {
    pipe: Pipe,
    /// Packets and datagrams that rooms have not handled.
    unread: AtomicUsize,
}

impl EdgeEnd {
    fn close(&self, link: u64, packet: &[u8], reason: Option<Error>) {
        let packet = Bytes::copy_from_slice(packet);
        self.pipe.put(|out| ToEdge::Close { link, reason, packet }.write(out));
    }
}

impl Edge for EdgeEnd {
    fn shared(&self, links: &[u64], packet: &[u8]) {
        for links in links.chunks(MAX_SHARING) {
            self.pipe.put(|out| write_shared(links, packet, out));
        }
    }

    fn handled(&self, link: u64) {
        self.unread.fetch_sub(1, Ordering::Relaxed);
        self.pipe.put(|out| ToEdge::Handled { link, count: 1 }.write(out));
    }
}

/// The outlet of a client that is connected to the edge.
struct EdgeOutlet {
    end: Arc<EdgeEnd>,
    /// The same, as other rooms' outlets know it.
    edge: Arc<dyn Edge>,
    /// The connection's number at the edge.
    link: u64,
    max_datagram: usize,
    is_closed: Cell<bool>,
}

impl Outlet for EdgeOutlet {
    fn packet(&self, packet: Vec<u8>) {
        self.end.pipe.put(|out| write_packet(self.link, &packet, out));
    }

    fn close(&self, last: Close) {
        self.is_closed.set(true);
        self.end.close(self.link, &last.packet, last.reason);
    }

    fn max_datagram(&self) -> usize {
        self.max_datagram
    }

    fn datagram(&self, (packet, needs): Datagram) -> bool {
        let packet = packet.into();
        self.end.pipe.put(|out| ToEdge::Datagram { link: self.link, needs, packet }.write(out));
        true
    }

    fn shared_datagram(&self, parts: [&[u8]; 2], _: bool) {
        self.end.pipe.put(|out| write_shared_datagram(self.link, parts, out));
    }

    fn token(&self, token: Vec<u8>) {
        let token = token.into();
        self.end.pipe.put(|out| ToEdge::Token { link: self.link, token }.write(out));
    }

    fn hold(&self, until: Instant) {
        let time = until.saturating_duration_since(Instant::now());
        self.end.pipe.put(|out| ToEdge::Hold { link: self.link, time }.write(out));
    }

    fn edge(&self) -> Option<(&Arc<dyn Edge>, u64)> {
        Some((&self.edge, self.link))
    }
}

impl Drop for EdgeOutlet {
    /// A room that ends without a word drops the outlets of its connections, which closes them.
    fn drop(&mut self) {
        if !self.is_closed.get() {
            self.end.close(self.link, &[], None);
        }
    }
}
