//! Down responses: streamed, held, or at once.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use axum::body::Bytes;
use futures_util::stream::{Stream as Chunks, unfold};
use tokio::time::{Instant, timeout, timeout_at};

use super::form::Stream;
use super::state::{Carrier, Step, Turn};
use crate::HttpLimits;
use crate::transport::framing::{put, put_varint};

/// How long an answer that has a packet waits for another. The room makes the second once the first has gone, and the
/// newer it is the better.
const GATHER: Duration = Duration::from_millis(1);

/// How long it does so at most, whatever comes.
const GATHER_AT_MOST: Duration = Duration::from_millis(5);

/// A response that takes packets from its carrier.
pub(super) struct Down {
    carrier: Arc<Carrier>,
    turn: Turn,
    first: u64,
}

impl Down {
    /// Takes over from any response before it (T11). `None`: the carrier is over.
    pub(super) fn begin(carrier: Arc<Carrier>, received: u64) -> Option<Self> {
        let (turn, first) = carrier.begin(received)?;
        Some(Down { carrier, turn, first })
    }

    /// The next packet. `None`: the response is to end.
    async fn next(&self) -> Option<Bytes> {
        match self.carrier.step(self.turn).await {
            Step::Packet(packet) => Some(packet),
            Step::End => None,
        }
    }
}

impl Drop for Down {
    fn drop(&mut self) {
        self.carrier.finish(self.turn);
    }
}

/// The whole of an answer that does not grow (T15). Waits so long for something to be there.
pub(super) async fn answer(down: Down, wait: Duration) -> Bytes {
    let mut body = down.carrier.id.to_string().into_bytes();
    put_varint(down.first, &mut body);
    let mut packet = timeout(wait, down.next()).await.ok().flatten();
    let until = Instant::now() + GATHER_AT_MOST;
    while let Some(bytes) = packet {
        put(&bytes, &mut body);
        let wait = until.min(Instant::now() + GATHER);
        packet = timeout_at(wait, down.next()).await.ok().flatten();
    }
    body.into()
}

/// A response that grows until its time or its size is over, or another takes over (T12).
pub(super) fn stream(
    down: Down,
    form: Stream,
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
    /// The next chunk, which ends where a packet does.
    async fn next(self, form: &Stream) -> Option<(Bytes, Self)> {
        match self {
            Streaming::Opening { down, until, left } => {
                let opening = form.opening(down.carrier.id, down.first);
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
                    // What comes from now on is for the next response.
                    None => Some((form.closing(), Streaming::Over)),
                }
            }
            Streaming::Over => None,
        }
    }
}
