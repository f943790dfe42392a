//! Responses to down requests, which carry packets to the client: streamed, held until there is a
//! packet, or answered at once (docs/transports.md, T12 to T15).

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use axum::body::Bytes;
use futures_util::stream::{Stream as Chunks, unfold};
use tokio::time::{Instant, timeout, timeout_at};

use super::form::StreamForm;
use super::state::{HttpTransport, ResponseNumber, Step};
use crate::ends::framing::{put, put_varint};
use crate::web::limits::HttpLimits;

/// How long an answer that has a packet waits for another one: the room builds the second packet
/// once the first was sent.
const GATHER: Duration = Duration::from_millis(1);

/// How long an answer that has a packet waits for further packets in total.
const MAX_GATHER: Duration = Duration::from_millis(5);

/// A response that carries packets of its transport to the client.
pub(super) struct Down {
    transport: Arc<HttpTransport>,
    number: ResponseNumber,
    first: u64,
}

impl Down {
    /// Begins a response and ends the one before it (T11); `None` if the transport is closed.
    pub(super) fn begin(transport: Arc<HttpTransport>, received: u64) -> Option<Self> {
        let (number, first) = transport.begin(received)?;
        Some(Down { transport, number, first })
    }

    /// The next packet; `None` if the response has to end.
    async fn next(&self) -> Option<Bytes> {
        match self.transport.step(self.number).await {
            Step::Packet(packet) => Some(packet),
            Step::End => None,
        }
    }
}

impl Drop for Down {
    fn drop(&mut self) {
        self.transport.finish(self.number);
    }
}

/// The body of an answer that is not streamed (T15). Waits up to `wait` for the first packet.
pub(super) async fn answer(down: Down, wait: Duration) -> Bytes {
    let mut body = down.transport.id.to_string().into_bytes();
    put_varint(down.first, &mut body);
    let mut packet = timeout(wait, down.next()).await.ok().flatten();
    let until = Instant::now() + MAX_GATHER;
    while let Some(bytes) = packet {
        put(&bytes, &mut body);
        let wait = until.min(Instant::now() + GATHER);
        packet = timeout_at(wait, down.next()).await.ok().flatten();
    }
    body.into()
}

/// The body of a streamed response, which ends after its time or size limit, or when the next
/// response begins (T12).
pub(super) fn stream(
    down: Down,
    form: StreamForm,
    limits: &HttpLimits,
) -> impl Chunks<Item = Result<Bytes, Infallible>> + Send + use<> {
    let until = Instant::now() + limits.stream;
    let streaming = Streaming::Opening { down, until, left: limits.stream_bytes };
    unfold((form, streaming), |(form, streaming)| async move {
        let (chunk, streaming) = streaming.next(&form).await?;
        Some((Ok(chunk), (form, streaming)))
    })
}

enum Streaming {
    Opening { down: Down, until: Instant, left: usize },
    Running { down: Down, until: Instant, left: usize },
    Over,
}

impl Streaming {
    /// The next chunk of the response: its opening, one packet, or its closing. `None` after the
    /// closing.
    async fn next(self, form: &StreamForm) -> Option<(Bytes, Self)> {
        match self {
            Streaming::Opening { down, until, left } => {
                let opening = form.opening(down.transport.id, down.first);
                Some((opening, Streaming::Running { down, until, left }))
            }
            Streaming::Running { down, until, left } => {
                let next = match left {
                    0 => None,
                    _ => timeout_at(until, down.next()).await.ok().flatten(),
                };
                match next {
                    Some(packet) => {
                        let left = left.saturating_sub(packet.len());
                        let chunk = form.packet(&packet);
                        Some((chunk, Streaming::Running { down, until, left }))
                    }
                    // Later packets go into the next response.
                    None => form.closing().map(|closing| (closing, Streaming::Over)),
                }
            }
            Streaming::Over => None,
        }
    }
}
