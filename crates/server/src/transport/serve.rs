//! The task of one connection: moves packets between its transport and its room.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use groupwire_session::{Error, LinkId, Opening, goodbye, refusal};
use tokio::sync::{Semaphore, mpsc};
use tokio::time::{Instant, timeout};

use super::context::TransportContext;
use crate::access::{Access, AccessChange, Admitted, keep_access};
use crate::ends::brake::Brake;
use crate::ends::conn_info::ConnInfo;
use crate::ends::linger::LINGER;
use crate::ends::socket_writer::SocketWriter;
use crate::ends::{Datagram, Datagrams, Incoming, Receive, Transmit};
use crate::figures::events::Events;
use crate::rooms::refused::NotJoined;
use crate::rooms::task::{Close, Connection, Message, Outbound, Permit, TaskOutlet};
use crate::tools::outbox::{Outgoing, outbox};
use crate::traces::{JoinTrace, Span};

/// How long a new connection may take to send its first packet (docs/transports.md, T3).
const OPENING_LIMIT: Duration = Duration::from_secs(5);

/// Packets of one connection that may wait for the room. With more, the transport is not read, so
/// that TCP or QUIC slows the client down.
const MAX_UNREAD: usize = 16;

/// Messages that may wait for a connection's task: the three packets that a room has under way at
/// most, one of them shared with other connections, and a close.
const MAX_PACKETS: usize = 4;

/// Datagrams that may wait for a connection's task: two payloads are under way at most, each of
/// which may need several datagrams.
const MAX_DATAGRAMS: usize = 16;

/// How long the last packet and the closing handshake of the transport may take. If the client
/// broke a rule: [`LINGER`].
const CLOSE_LIMIT: Duration = Duration::from_secs(1);

/// Sends messages to the task of a room.
type ToRoom = mpsc::UnboundedSender<Message>;

/// Serves a connection until it ends. The number beside the datagrams is the most bytes of one
/// datagram.
pub(crate) async fn serve<R: Receive, T: Transmit, D: Datagrams>(
    context: Arc<TransportContext>,
    info: ConnInfo,
    mut receive: R,
    mut transmit: T,
    datagrams: Option<(D, usize)>,
) {
    let transport = info.transport;
    let counted = context.connections.count(transport);
    let link = context.rooms.next_link();
    let span = context.traces.begin("join");
    span.set("groupwire.transport", info.transport);
    span.set("groupwire.link", i64::try_from(link.0).unwrap_or(i64::MAX));
    let (outbound, mut packets) = outbox(MAX_PACKETS);
    let datagram_sink = datagrams.as_ref().map(|(datagrams, _)| datagrams.sink());
    let (to_datagrams, datagrams) = match datagrams {
        Some((datagrams, largest)) => {
            let (to_datagrams, outgoing) = outbox(MAX_DATAGRAMS);
            (Some((to_datagrams, largest)), Some((datagrams, outgoing)))
        }
        None => (None, None),
    };
    let socket_writer = transmit.socket_writer();
    let (tokens, more_tokens) = outbox(1);
    let brake = Arc::new(Brake::default());
    let outlet = TaskOutlet {
        packets: outbound,
        datagrams: to_datagrams,
        datagram_sink,
        tokens,
        brake: Arc::clone(&brake),
    };
    let connection = Connection {
        outlet: Box::new(outlet),
        socket_writer: socket_writer.clone(),
        trace: JoinTrace { join: span, room: Span::NONE },
        opened_at: Instant::now(),
        handed_over_at: Instant::now(),
        info,
    };
    // Boxed, so that a connection that has joined does not hold memory for it any more.
    let (name, room, access) = match Box::pin(join(&context, link, &mut receive, connection)).await
    {
        Ok(joined) => joined,
        Err(NotJoined::Stopping { retry } | NotJoined::Deferred { retry }) => {
            return close(&mut transmit, goodbye(retry), None).await;
        }
        Err(NotJoined::Refused(error)) => {
            tracing::info!(%link, %error, "connection refused");
            log_if_too_large(&context.events, transport, &error);
            context.events.refusals.count(&error);
            return close(&mut transmit, refusal(&error), Some(&error)).await;
        }
    };
    {
        let writing = write(
            context.dead(),
            &room,
            link,
            socket_writer.as_deref(),
            &mut transmit,
            &mut packets,
        );
        let writing_datagrams = write_datagrams(&room, link, datagrams);
        // Boxed, so that an idle connection does not hold memory for what an authenticator does.
        let gate = Arc::clone(&context.gate);
        let traces = context.traces.clone();
        let tell = |change| drop(room.send(message_of(link, change)));
        let keeping = Box::pin(keep_access(gate, traces, (&name, tell), link, access, more_tokens));
        tokio::pin!(writing);
        tokio::select! {
            () = &mut writing => {}
            () = writing_datagrams => {}
            () = keeping => {}
            error = read(&room, link, &mut receive, &brake) => {
                let limit = close_limit(error.as_ref());
                if let Some(error) = error {
                    log_if_too_large(&context.events, transport, &error);
                    let _ = room.send(Message::Fail { link, error });
                }
                // The room may still send an error that says why the connection ends.
                let _ = timeout(limit, writing).await;
            }
        }
    }
    let _ = room.send(Message::Closed { link });
    drop(counted);
}

/// Reads the first packet, and hands the connection to the room that it names if the client may
/// join. Returns the room's name, the sender of messages to the room, and the participant's access.
async fn join(
    context: &TransportContext,
    link: LinkId,
    receive: &mut impl Receive,
    connection: Connection,
) -> Result<(String, ToRoom, Access), NotJoined> {
    let span = connection.trace.join.clone();
    let joined = ask_to_join(context, link, receive, connection).await;
    match &joined {
        Ok(_) => {}
        Err(NotJoined::Refused(error)) => span.fail(error.name()),
        Err(NotJoined::Stopping { .. }) => span.fail("stopping"),
        Err(NotJoined::Deferred { .. }) => span.fail("deferred"),
    }
    joined
}

async fn ask_to_join(
    context: &TransportContext,
    link: LinkId,
    receive: &mut impl Receive,
    mut connection: Connection,
) -> Result<(String, ToRoom, Access), NotJoined> {
    let span = connection.trace.join.part("opening");
    let opening = match timeout(OPENING_LIMIT, first_packet(receive)).await {
        Ok(Ok(Some(packet))) => packet,
        Ok(Ok(None)) => {
            return Err(Error::Malformed { what: "opening: the connection was closed" }.into());
        }
        Ok(Err(error)) => return Err(error.into()),
        Err(_) => return Err(Error::Silent { ms: OPENING_LIMIT.as_millis() as u64 }.into()),
    };
    connection.opened_at = Instant::now();
    drop(span);
    let first = Opening::read(&opening)?;
    let name = first.room().to_owned();
    let entering = authenticate(context, &name, first.token(), &connection.trace.join);
    let Admitted { identity, access } = context.admit(entering).await?;
    connection.trace.room = connection.trace.join.part("room");
    connection.handed_over_at = Instant::now();
    let message = Message::Join { link, opening, identity, connection: Box::new(connection) };
    let room = context.rooms.locate(&name).join(message)?;
    Ok((name, room, access))
}

/// The first packet of the stream; `None` if the connection was closed before. Datagrams that come
/// earlier are dropped: on a bad path a client asks for signs of life while its HELLO is under way
/// (wire W120).
async fn first_packet(receive: &mut impl Receive) -> Result<Option<Bytes>, Error> {
    loop {
        match receive.receive().await? {
            Some(Incoming::Packet(packet)) => return Ok(Some(packet)),
            Some(Incoming::Datagram(_)) => {}
            None => return Ok(None),
        }
    }
}

/// The message that tells the room of a change of its participant's access.
fn message_of(link: LinkId, change: AccessChange) -> Message {
    match change {
        AccessChange::TokenWanted => Message::TokenWanted { link },
        AccessChange::Renewed(identity) => Message::Renewed { link, identity },
        AccessChange::Over(error) => Message::Fail { link, error },
    }
}

/// Asks whether a client may join.
async fn authenticate(
    context: &TransportContext,
    room: &str,
    token: &[u8],
    join: &Span,
) -> Result<Admitted, Error> {
    context.traces.name_room(join, room);
    let span = join.part("authenticate");
    let answer = context.gate.ask(room, token, &span).await.map_err(Error::from);
    answer.inspect_err(|error| span.fail(error.name()))
}

/// Passes received packets and datagrams to the room until the connection ends, not before `brake`
/// allows it. Returns the rule of the transport that the client broke, if it broke one.
async fn read(
    room: &ToRoom,
    link: LinkId,
    receive: &mut impl Receive,
    brake: &Brake,
) -> Option<Error> {
    let unread = Arc::new(Semaphore::new(MAX_UNREAD));
    loop {
        let Ok(permit) = Arc::clone(&unread).acquire_owned().await else { return None };
        brake.released().await;
        let permit = Permit::from(permit);
        let message = match receive.receive().await {
            Ok(Some(Incoming::Packet(packet))) => Message::Packet { link, packet, _permit: permit },
            Ok(Some(Incoming::Datagram(packet))) => {
                Message::Datagram { link, packet, _permit: permit }
            }
            Ok(None) => return None,
            Err(error) => return Some(error),
        };
        if room.send(message).is_err() {
            return None;
        }
    }
}

/// Sends the room's packets until the room closes the connection, or until it breaks or takes
/// nothing for the time `dead`.
async fn write(
    dead: Duration,
    room: &ToRoom,
    link: LinkId,
    socket_writer: Option<&SocketWriter>,
    transmit: &mut impl Transmit,
    packets: &mut Outgoing<Outbound>,
) {
    loop {
        let outbound = tokio::select! {
            outbound = packets.next() => outbound,
            () = drain(dead, room, link, socket_writer) => return,
        };
        match outbound {
            None => return,
            Some(Outbound::Packet(packet)) => {
                // After the same time without a sent packet the room closes the connection, but the
                // last packet of the room could not be sent either, so the task just ends.
                let sent = timeout(dead, transmit.send(packet)).await;
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

fn log_if_too_large(events: &Events, transport: &str, error: &Error) {
    if matches!(error, Error::TooLarge { .. }) {
        events.log_too_large(transport, error);
    }
}

/// Sends a last packet and closes the transport, within a time limit. The future is boxed, so that
/// an idle connection does not hold memory for it.
async fn close(transmit: &mut impl Transmit, packet: Vec<u8>, reason: Option<&Error>) {
    let _ = timeout(close_limit(reason), Box::pin(transmit.close(packet, reason))).await;
}

/// How long closing a connection may take.
fn close_limit(reason: Option<&Error>) -> Duration {
    if reason.is_some() { LINGER } else { CLOSE_LIMIT }
}

/// Sends the bytes that the kernel did not accept at once, and tells the room when the kernel has
/// accepted them. Ends when the socket breaks.
async fn drain(dead: Duration, room: &ToRoom, link: LinkId, socket_writer: Option<&SocketWriter>) {
    let Some(socket_writer) = socket_writer else { return std::future::pending().await };
    loop {
        socket_writer.wait_for_unsent().await;
        // The same time limit as in [`write`]. Boxed, so that an idle connection does not hold
        // memory for it.
        let flushed = Box::pin(timeout(dead, socket_writer.flush()));
        let Ok(Ok(packets)) = flushed.await else { return };
        (0..packets).for_each(|_| drop(room.send(Message::Sent { link })));
    }
}

/// Sends the room's datagrams. Never ends: the reliable end notices that the connection is closed.
async fn write_datagrams(
    room: &ToRoom,
    link: LinkId,
    datagrams: Option<(impl Datagrams, Outgoing<Datagram>)>,
) {
    if let Some((mut datagrams, mut outgoing)) = datagrams {
        while let Some((packet, needs)) = outgoing.next().await {
            let fate = datagrams.send(packet, needs).await;
            let _ = room.send(Message::DatagramGone { link, fate });
        }
    }
    std::future::pending().await
}

#[cfg(test)]
mod tests;
