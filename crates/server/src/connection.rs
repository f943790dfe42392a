//! One WebSocket connection: packets between a socket and a room.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use axum::extract::ws::{CloseFrame, Message as Frame, WebSocket, close_code};
use futures_util::stream::{SplitSink, SplitStream};
use futures_util::{SinkExt, StreamExt};
use groupwire_session::room::LinkId;
use groupwire_session::{Error, Fault, Opening, refusal};
use tokio::sync::{Semaphore, mpsc};
use tokio::time::timeout;
use tungstenite::error::{CapacityError, ProtocolError};

use crate::hub::{Hub, random_secret};
use crate::room::{Message, Outbound};

/// How long a new connection may take to say hello.
const HELLO: Duration = Duration::from_secs(5);

/// Packets of one connection that may wait for the room; then its socket is not read.
const UNREAD: usize = 16;

/// Two packets and a close.
const OUTBOUND: usize = 3;

/// How long a last packet and the closing handshake may take.
const GOODBYE: Duration = Duration::from_secs(1);

type Sink = SplitSink<WebSocket, Frame>;
type Stream = SplitStream<WebSocket>;
type ToRoom = mpsc::UnboundedSender<Message>;

/// Serves a connection until it ends.
pub(crate) async fn serve(hub: Arc<Hub>, socket: WebSocket) {
    let counted = Counted::new(&hub);
    let (mut sink, mut stream) = socket.split();
    let (outbound, mut packets) = mpsc::channel(OUTBOUND);
    let link = hub.next_link();
    let room = match join(&hub, link, &mut stream, outbound).await {
        Ok(room) => room,
        Err(error) => {
            tracing::info!(link, %error, "refused");
            say_goodbye(&mut sink, refusal(&error), Some(&error)).await;
            return;
        }
    };
    tokio::select! {
        () = write(&hub, &room, link, &mut sink, &mut packets) => {}
        () = read(&room, link, &mut stream) => {
            // The room may still have a reason to give.
            let _ = timeout(GOODBYE, write(&hub, &room, link, &mut sink, &mut packets)).await;
        }
    }
    let _ = room.send(Message::Closed { link });
    drop(counted);
}

/// Reads the first packet and knocks at its room.
async fn join(
    hub: &Arc<Hub>,
    link: LinkId,
    stream: &mut Stream,
    outbound: mpsc::Sender<Outbound>,
) -> Result<ToRoom, Error> {
    let first = timeout(HELLO, stream.next()).await;
    let opening = match first {
        Ok(Some(Ok(Frame::Binary(packet)))) => packet,
        Ok(Some(Ok(_))) => {
            return Err(Error::Malformed { what: "opening: a binary message is due" });
        }
        Ok(Some(Err(error))) => {
            return Err(violation(error).unwrap_or(Error::Malformed { what: "opening" }));
        }
        Ok(None) => return Err(Error::Malformed { what: "opening: the connection was closed" }),
        Err(_) => return Err(Error::Silent { ms: HELLO.as_millis() as u64 }),
    };
    let room = Opening::read(&opening)?.room().to_owned();
    hub.join(&room, Message::Join { link, opening, secret: random_secret(), outbound })
}

/// Brings the connection's packets to the room until the connection ends.
async fn read(room: &ToRoom, link: LinkId, stream: &mut Stream) {
    let unread = Arc::new(Semaphore::new(UNREAD));
    loop {
        let Ok(permit) = Arc::clone(&unread).acquire_owned().await else { return };
        let message = match stream.next().await {
            Some(Ok(Frame::Binary(packet))) => Message::Packet { link, packet, _permit: permit },
            Some(Ok(Frame::Text(_))) => {
                let error = Error::Malformed { what: "packet: a binary message is due" };
                let _ = room.send(Message::Fail { link, error });
                return;
            }
            Some(Ok(Frame::Ping(_) | Frame::Pong(_))) => continue,
            Some(Ok(Frame::Close(_))) | None => return,
            Some(Err(error)) => {
                tracing::debug!(link, %error, "socket error");
                if let Some(error) = violation(error) {
                    let _ = room.send(Message::Fail { link, error });
                }
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
    sink: &mut Sink,
    packets: &mut mpsc::Receiver<Outbound>,
) {
    while let Some(outbound) = packets.recv().await {
        match outbound {
            Outbound::Packet(packet) => {
                // The room gives up on who does not read after as long, but its word cannot get through.
                let sent = timeout(hub.config.timing.dead, sink.send(Frame::Binary(packet.into())));
                if !matches!(sent.await, Ok(Ok(()))) {
                    return;
                }
                let _ = room.send(Message::Sent { link });
            }
            Outbound::Close { packet, reason } => {
                return say_goodbye(sink, packet, reason.as_ref()).await;
            }
        }
    }
}

async fn say_goodbye(sink: &mut Sink, packet: Vec<u8>, reason: Option<&Error>) {
    let goodbye = async {
        if !packet.is_empty() {
            sink.send(Frame::Binary(packet.into())).await?;
        }
        sink.send(Frame::Close(Some(close_frame(reason)))).await
    };
    let _ = timeout(GOODBYE, goodbye).await;
}

fn close_frame(reason: Option<&Error>) -> CloseFrame {
    let Some(error) = reason else {
        return CloseFrame { code: close_code::NORMAL, reason: "goodbye".into() };
    };
    let code = match (error, error.fault()) {
        (Error::TooLarge { .. }, _) => close_code::SIZE,
        (_, Fault::Limit) => close_code::AGAIN,
        (_, Fault::Refused) => close_code::POLICY,
        _ => close_code::PROTOCOL,
    };
    // RFC 6455, section 5.5: a control frame has at most 125 octets, two of which are the code.
    let mut text = error.to_string();
    let end = (0..=123.min(text.len())).rev().find(|&end| text.is_char_boundary(end));
    text.truncate(end.unwrap_or_default());
    CloseFrame { code, reason: text.into() }
}

/// A message over the limit is refused by the socket before it is read whole.
fn violation(error: axum::Error) -> Option<Error> {
    match error.into_inner().downcast_ref::<tungstenite::Error>() {
        Some(tungstenite::Error::Capacity(CapacityError::MessageTooLong { size, max_size })) => {
            Some(Error::TooLarge { what: "packet", size: *size, limit: *max_size })
        }
        // A connection that is simply gone is no offence.
        Some(tungstenite::Error::Protocol(ProtocolError::ResetWithoutClosingHandshake)) => None,
        Some(tungstenite::Error::Protocol(_)) => Some(Error::Malformed { what: "WebSocket frame" }),
        Some(tungstenite::Error::Utf8(_)) => Some(Error::InvalidText { what: "WebSocket text" }),
        _ => None,
    }
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
