//! The task of one connection: moves messages between its WebSocket and its document.

use std::sync::Arc;
use std::time::Duration;

use axum::body::Bytes;
use futures_util::stream::{SplitSink, SplitStream};
use futures_util::{SinkExt, StreamExt};
use groupwire_session::Opening;
use groupwire_yjs::reply;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::mpsc::UnboundedSender;
use tokio::sync::oneshot;
use tokio::time::{Instant, interval, sleep, timeout};
use tokio_tungstenite::WebSocketStream;
use tungstenite::error::CapacityError;
use tungstenite::protocol::CloseFrame;
use tungstenite::{Error as SocketError, Message as Frame};

use super::access::{self, Entry};
use super::context::DocumentContext;
use super::ending::Ending;
use super::joining::Joined;
use super::message::Message;
use super::open_document::{Peer, Rights};
use super::outbox::{Next, Outgoing, outbox};
use super::pace::Pace;
use crate::access::{AccessChange, keep_access};
use crate::ends::linger::{LINGER, close_in_order};
use crate::rooms::refused::NotJoined;
use crate::tools;
use crate::traces::Traces;
use crate::transport::context::TransportContext;

/// How often a client is sent a ping, and an empty message to show that the server is there:
/// y-websocket's client gives up after 30 s without a message.
const ALIVE: Duration = Duration::from_secs(15);

/// A connection on which nothing came for this long, not even an answer to a ping, is broken.
const SILENT: Duration = Duration::from_secs(40);

/// How long the client may take to receive a message, beside the time for its bytes.
const STALLED: Duration = Duration::from_secs(30);

/// The slowest permitted client, in bytes per second.
const SLOWEST: u64 = 64 << 10;

/// How long closing may take.
const CLOSING: Duration = Duration::from_secs(1);

/// Why a client of another protocol cannot go on. That of Hocuspocus carries documents of Yjs, too.
const ANOTHER_PROTOCOL: &str = "y-websocket's protocol is spoken at /yjs/DOCUMENT, this client speaks another one, as Hocuspocus does";

/// Why a client of Groupwire cannot go on.
const GROUPWIRE: &str =
    "y-websocket's protocol is spoken here: Groupwire's clients use the address without /yjs";

/// A WebSocket.
pub(super) trait Socket: AsyncRead + AsyncWrite + Unpin + Send + 'static {}

impl<S: AsyncRead + AsyncWrite + Unpin + Send + 'static> Socket for S {}

type Source<S> = SplitStream<WebSocketStream<S>>;
type Sink<S> = SplitSink<WebSocketStream<S>, Frame>;

/// Serves a connection until it ends.
pub(super) async fn serve<S: Socket>(
    context: Arc<DocumentContext>,
    socket: WebSocketStream<S>,
    name: String,
    token: Vec<u8>,
) {
    let DocumentContext { transports, documents } = &*context;
    let counted = transports.connections.count("WebSocket");
    let (mut sink, mut stream) = socket.split();
    let (inbox, outgoing) = outbox(Arc::clone(&documents.counters));
    let entered = enter(&context, &name, &token, |rights| Peer::new(inbox, rights)).await;
    let ending = match entered {
        Ok((entry, joined)) => {
            let Joined { connection, document } = joined;
            let ending = carry(
                transports,
                &name,
                entry,
                connection,
                &document,
                (&mut stream, &mut sink),
                outgoing,
            );
            // Boxed, so that a connection does not hold memory for all of its stages.
            let ending = Box::pin(ending).await;
            let _ = document.send(Message::Left { connection });
            ending
        }
        Err(NotJoined::Stopping { .. } | NotJoined::Deferred { .. }) => {
            Some(Ending::not_now("the server is busy"))
        }
        Err(NotJoined::Refused(error)) => {
            tracing::info!(document = name, %error, "connection to a document refused");
            transports.events.refusals.count(&error);
            Some(Ending::refused(&error))
        }
    };
    if let Some(ending) = ending.as_ref().filter(|ending| ending.is_too_large()) {
        transports.events.log_too_large(&name, &ending.reason);
    }
    let limit = if ending.as_ref().is_some_and(Ending::is_final) { LINGER } else { CLOSING };
    let _ = timeout(limit, Box::pin(close(sink, stream, ending))).await;
    drop(counted);
}

/// Asks whether the client may come in, and hands it to its document.
async fn enter(
    context: &DocumentContext,
    name: &str,
    token: &[u8],
    peer: impl FnOnce(Rights) -> Peer,
) -> Result<(Entry, Joined), NotJoined> {
    let DocumentContext { transports, documents } = context;
    let entering = async {
        let span = transports.traces.begin("join");
        transports.traces.name_room(&span, name);
        let asked = access::ask(transports, name, token, &span).await;
        asked.inspect_err(|error| span.fail(error.name()))
    };
    let entry = transports.admit(entering).await?;
    let joined = documents.join(name, peer(entry.rights))?;
    Ok((entry, joined))
}

/// Moves messages until the connection ends. Returns the reason for closing it; `None` if it is
/// broken or its client closes it.
async fn carry<S: Socket>(
    context: &TransportContext,
    name: &str,
    entry: Entry,
    connection: u64,
    document: &UnboundedSender<Message>,
    (stream, sink): (&mut Source<S>, &mut Sink<S>),
    outgoing: Outgoing,
) -> Option<Ending> {
    let (quota, burst) = entry.quota;
    let pace = Pace::new(quota, burst, Instant::now());
    // y-websocket's clients cannot be asked for another token, so that only the error counts that
    // ends the connection.
    let (expulsion, mut expelled) = tools::outbox::outbox(1);
    let tell = |change| {
        if let AccessChange::Over(error) = change {
            expulsion.put(error);
        }
    };
    // y-websocket has no way to send another token over an open connection.
    let (_no_tokens, tokens) = tools::outbox::outbox(1);
    let (gate, link) = (Arc::clone(&context.gate), context.rooms.next_link());
    let keeping =
        Box::pin(keep_access(gate, Traces::default(), (name, tell), link, entry.access, tokens));
    tokio::select! {
        ending = write(document, connection, sink, outgoing.clone()) => ending,
        ending = read(document, connection, stream, &outgoing, pace) => ending,
        Some(error) = expelled.next() => {
            context.events.disconnects.count(&error);
            Some(Ending::of(&error))
        }
        () = keeping => None,
    }
}

/// Hands the client's messages to the document, one at a time and not faster than permitted.
async fn read<S: Socket>(
    document: &UnboundedSender<Message>,
    connection: u64,
    stream: &mut Source<S>,
    outgoing: &Outgoing,
    mut pace: Pace,
) -> Option<Ending> {
    let mut is_first = true;
    loop {
        outgoing.has_place().await;
        let frame = match timeout(SILENT, stream.next()).await {
            Ok(frame) => frame,
            Err(_) => return None,
        };
        let bytes: Bytes = match frame {
            Some(Ok(Frame::Binary(bytes))) => bytes,
            Some(Ok(Frame::Ping(_) | Frame::Pong(_) | Frame::Frame(_))) => continue,
            Some(Ok(Frame::Text(_))) => {
                return Some(Ending::malformed(ANOTHER_PROTOCOL));
            }
            Some(Err(SocketError::Capacity(CapacityError::MessageTooLong { size, max_size }))) => {
                let why = format!(
                    "a message of {size} bytes or more is over the limit of {max_size} (--max-document-message)"
                );
                return Some(Ending::too_large(why));
            }
            Some(Ok(Frame::Close(_)) | Err(_)) | None => return None,
        };
        if std::mem::take(&mut is_first)
            && let Some(why) = foreign(&bytes)
        {
            return Some(Ending::malformed(why));
        }
        let (done, cost) = oneshot::channel();
        document.send(Message::Packet { connection, bytes, done }).ok()?;
        match cost.await {
            Ok(cost) => {
                let wait = pace.spend(cost, Instant::now());
                if !wait.is_zero() {
                    sleep(wait).await;
                }
            }
            // The document has ended. It drops its end of the outbox, which closes the connection.
            Err(_) => std::future::pending().await,
        }
    }
}

/// Why a client cannot go on whose first message is none of y-websocket.
fn foreign(first: &[u8]) -> Option<&'static str> {
    match groupwire_yjs::Message::parse(first) {
        Ok(groupwire_yjs::Message::Other(_)) | Err(_) if Opening::read(first).is_ok() => {
            Some(GROUPWIRE)
        }
        Ok(groupwire_yjs::Message::Other(_)) | Err(_) => Some(ANOTHER_PROTOCOL),
        Ok(_) => None,
    }
}

/// Sends the document's messages to the client.
async fn write<S: Socket>(
    document: &UnboundedSender<Message>,
    connection: u64,
    sink: &mut Sink<S>,
    outgoing: Outgoing,
) -> Option<Ending> {
    let mut alive = interval(ALIVE);
    alive.reset();
    let mut is_silent = true;
    loop {
        tokio::select! {
            next = outgoing.next() => match next {
                Next::Send(bytes) => {
                    let limit = STALLED + Duration::from_secs(bytes.len() as u64 / SLOWEST);
                    timeout(limit, sink.send(Frame::Binary(bytes))).await.ok()?.ok()?;
                    is_silent = false;
                }
                Next::Drained => document.send(Message::Drained { connection }).ok()?,
                Next::End(ending) => return Some(ending),
            },
            _ = alive.tick() => {
                if std::mem::replace(&mut is_silent, true) {
                    let nobody = Frame::Binary(reply::awareness([]).into());
                    timeout(STALLED, sink.feed(nobody)).await.ok()?.ok()?;
                }
                timeout(STALLED, sink.send(Frame::Ping(Bytes::new()))).await.ok()?.ok()?;
            }
        }
    }
}

/// Closes the connection with a reason. Without a reason it answers the client's own close frame.
async fn close<S: Socket>(mut sink: Sink<S>, stream: Source<S>, ending: Option<Ending>) {
    let Some(ending) = ending else { return drop(sink.close().await) };
    let Ending { code, reason } = &ending;
    if ending.is_final() && sink.feed(Frame::Binary(reply::denied(reason).into())).await.is_err() {
        return;
    }
    let frame = CloseFrame { code: (*code).into(), reason: reason.as_str().into() };
    if sink.send(Frame::Close(Some(frame))).await.is_ok() {
        let mut socket = sink.reunite(stream).expect("both are halves of this socket");
        // The socket itself is read: the library would take the rest of a large message into
        // memory.
        close_in_order(socket.get_mut()).await;
    }
}
