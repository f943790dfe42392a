//! What carries packets between a client and its room: one task each, over any transport.

pub(crate) mod carrier;
pub(crate) mod emulation;
pub(crate) mod framing;
pub(crate) mod line;
pub(crate) mod outbox;
pub(crate) mod socket;
pub(crate) mod websocket;

use std::future::Future;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use axum::body::Bytes;
use groupwire_session::{Error, LinkId, Opening, refusal};
use tokio::sync::{Semaphore, mpsc};
use tokio::time::timeout;

use crate::hub::{Hub, random_secret};
use crate::room::{Close, Link, Message, Outbound};
use line::Line;
use outbox::{Outgoing, outbox};

/// What came over a transport.
pub(crate) enum Incoming {
    /// In order and once.
    Packet(Bytes),
    /// On its own.
    Datagram(Bytes),
}

/// The end of a transport that is read.
pub(crate) trait Receive: Send {
    /// The next thing that came. `None`: closed, or simply gone. An error: the other end broke the transport's rules.
    fn receive(&mut self) -> impl Future<Output = Result<Option<Incoming>, Error>> + Send;
}

/// The transport is gone.
#[derive(Debug)]
pub(crate) struct Gone;

/// The reliable end that is written.
pub(crate) trait Transmit: Send {
    /// The socket, where the room's task may write packets itself.
    fn line(&self) -> Option<Arc<Line>> {
        None
    }

    /// Done when the packet has left our hands for the kernel's.
    fn send(&mut self, packet: Vec<u8>) -> impl Future<Output = Result<(), Gone>> + Send;

    /// Sends a last packet, which may be empty, and ends the transport, with a reason if it can state one.
    fn close(&mut self, packet: Vec<u8>, reason: Option<&Error>)
    -> impl Future<Output = ()> + Send;
}

/// Sends datagrams, beside the reliable end, so that neither waits for the other.
pub(crate) trait Datagrams: Send {
    /// Done when the packet has left, or was dropped for its age.
    fn send(&mut self, packet: Vec<u8>) -> impl Future<Output = ()> + Send;

    /// How the room sends datagrams whose body others share: itself, as a task for each would cost more than the sending.
    fn direct(&self) -> Direct;
}

/// Sends a datagram that is made of these parts, at once or never.
pub(crate) type Direct = Box<dyn Fn([&[u8]; 2]) + Send>;

/// The datagrams of transports that have none.
pub(crate) enum NoDatagrams {}

impl Datagrams for NoDatagrams {
    async fn send(&mut self, _: Vec<u8>) {
        match *self {}
    }

    fn direct(&self) -> Direct {
        match *self {}
    }
}

/// How long a new connection may take to say hello (T3).
const HELLO: Duration = Duration::from_secs(5);

/// Packets of one connection that may wait for the room; then its transport is not read.
const UNREAD: usize = 16;

/// Two packets and a close.
const OUTBOUND: usize = 3;

/// Two bodies, either of which may take some datagrams.
const OUTBOUND_DATAGRAMS: usize = 16;

/// How long a last packet and the transport's own goodbye may take.
const GOODBYE: Duration = Duration::from_secs(1);

/// What a connection is, for its room.
pub(crate) struct Origin {
    /// As people call it.
    pub(crate) kind: &'static str,
    /// By which it can be led over an emulated path, where that is allowed.
    pub(crate) way: Option<emulation::Way>,
}

type ToRoom = mpsc::UnboundedSender<Message>;

/// Serves a connection until it ends. `datagrams` says, too, how many bytes one may have.
pub(crate) async fn serve<R: Receive, T: Transmit, D: Datagrams>(
    hub: Arc<Hub>,
    origin: Origin,
    mut receive: R,
    mut transmit: T,
    datagrams: Option<(D, usize)>,
) {
    let counted = Counted::new(&hub);
    let link = hub.next_link();
    let (outbound, mut packets) = outbox(OUTBOUND);
    let direct = datagrams.as_ref().map(|(datagrams, _)| datagrams.direct());
    let (to_datagrams, datagrams) = match datagrams {
        Some((datagrams, largest)) => {
            let (to_datagrams, outgoing) = outbox(OUTBOUND_DATAGRAMS);
            (Some((to_datagrams, largest)), Some((datagrams, outgoing)))
        }
        None => (None, None),
    };
    let line = transmit.line();
    let ways =
        Link { packets: outbound, line: line.clone(), datagrams: to_datagrams, direct, origin };
    let room = match join(&hub, link, &mut receive, ways).await {
        Ok(room) => room,
        Err(error) => {
            tracing::info!(%link, %error, "refused");
            return close(&mut transmit, refusal(&error), Some(&error)).await;
        }
    };
    {
        let writing = write(&hub, &room, link, line.as_deref(), &mut transmit, &mut packets);
        let writing_datagrams = write_datagrams(&room, link, datagrams);
        tokio::pin!(writing);
        tokio::select! {
            () = &mut writing => {}
            () = writing_datagrams => {}
            () = read(&room, link, &mut receive) => {
                // The room may still have a reason to give.
                let _ = timeout(GOODBYE, writing).await;
            }
        }
    }
    let _ = room.send(Message::Closed { link });
    drop(counted);
}

/// Reads the first packet and knocks at its room.
async fn join(
    hub: &Arc<Hub>,
    link: LinkId,
    receive: &mut impl Receive,
    ways: Link,
) -> Result<ToRoom, Error> {
    let opening = match timeout(HELLO, receive.receive()).await {
        Ok(Ok(Some(Incoming::Packet(packet)))) => packet,
        Ok(Ok(Some(Incoming::Datagram(_)))) => {
            return Err(Error::Malformed { what: "opening: it came as a datagram" });
        }
        Ok(Ok(None)) => {
            return Err(Error::Malformed { what: "opening: the connection was closed" });
        }
        Ok(Err(error)) => return Err(error),
        Err(_) => return Err(Error::Silent { ms: HELLO.as_millis() as u64 }),
    };
    let room = Opening::read(&opening)?.room().to_owned();
    hub.join(&room, Message::Join { link, opening, secret: random_secret(), ways })
}

/// Brings what comes over the connection to the room until the connection ends.
async fn read(room: &ToRoom, link: LinkId, receive: &mut impl Receive) {
    let unread = Arc::new(Semaphore::new(UNREAD));
    loop {
        let Ok(permit) = Arc::clone(&unread).acquire_owned().await else { return };
        let message = match receive.receive().await {
            Ok(Some(Incoming::Packet(packet))) => Message::Packet { link, packet, _permit: permit },
            Ok(Some(Incoming::Datagram(packet))) => {
                Message::Datagram { link, packet, _permit: permit }
            }
            Ok(None) => return,
            Err(error) => {
                let _ = room.send(Message::Fail { link, error });
                return;
            }
        };
        if room.send(message).is_err() {
            return;
        }
    }
}

/// Brings the room's packets to the connection until the room closes it or it breaks.
async fn write(
    hub: &Hub,
    room: &ToRoom,
    link: LinkId,
    line: Option<&Line>,
    transmit: &mut impl Transmit,
    packets: &mut Outgoing<Outbound>,
) {
    loop {
        let outbound = tokio::select! {
            outbound = packets.next() => outbound,
            () = drain(hub, room, link, line) => return,
        };
        match outbound {
            None => return,
            Some(Outbound::Packet(packet)) => {
                // The room gives up on who does not read after as long, but its word cannot get through.
                let sent = timeout(hub.config.timing.dead, transmit.send(packet)).await;
                if !matches!(sent, Ok(Ok(()))) {
                    return;
                }
                let _ = room.send(Message::Sent { link });
            }
            Some(Outbound::Close(last)) => {
                let Close { packet, reason } = *last;
                return close(transmit, packet, reason.as_ref()).await;
            }
        }
    }
}

/// Sends a last packet and ends the transport, if that does not take too long. On its own: idle connections would keep a
/// place for it.
async fn close(transmit: &mut impl Transmit, packet: Vec<u8>, reason: Option<&Error>) {
    let _ = timeout(GOODBYE, Box::pin(transmit.close(packet, reason))).await;
}

/// Brings what the kernel would not take at once to the connection, and tells the room; ends when that breaks.
async fn drain(hub: &Hub, room: &ToRoom, link: LinkId, line: Option<&Line>) {
    let Some(line) = line else { return std::future::pending().await };
    loop {
        line.waits().await;
        // As above.
        let Ok(Ok(packets)) = timeout(hub.config.timing.dead, line.flush()).await else { return };
        (0..packets).for_each(|_| drop(room.send(Message::Sent { link })));
    }
}

/// Brings the room's datagrams to the connection; goes on for as long as that lasts.
async fn write_datagrams(
    room: &ToRoom,
    link: LinkId,
    datagrams: Option<(impl Datagrams, Outgoing<Vec<u8>>)>,
) {
    if let Some((mut datagrams, mut outgoing)) = datagrams {
        while let Some(packet) = outgoing.next().await {
            datagrams.send(packet).await;
            let _ = room.send(Message::DatagramSent { link });
        }
    }
    std::future::pending().await
}

/// Counts a connection for as long as it is served.
struct Counted(Arc<Hub>);

impl Counted {
    fn new(hub: &Arc<Hub>) -> Self {
        hub.connections.fetch_add(1, Ordering::Relaxed);
        Counted(Arc::clone(hub))
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.connections.fetch_sub(1, Ordering::Relaxed);
    }
}
