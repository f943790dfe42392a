//! What the techniques are measured under.

use super::drive::Path;
use super::input::Session;
use super::row::Mode;
use super::techniques::Kind;
use crate::link::LinkConfig;

/// Messages until the sender knows what arrived: a round trip of 100 ms at the 100 messages per second of four people.
const ACK_DELAY: u32 = 10;

/// Round trips of a continent, an ocean, and a bad day.
const ACK_MS: [u32; 3] = [100, 200, 400];

/// Loss for datagrams: none, and a bad wireless link.
const LOSSES: [f64; 2] = [0.0, 0.2];

/// Where packets get lost some are also late, by a few messages, ...
const REORDER: f64 = 0.05;

/// ... at most so many, ...
const REORDER_MESSAGES: u64 = 3;

/// ... or ms, ...
const REORDER_MS: u64 = 50;

/// ... and a few arrive twice.
const DUPLICATE: f64 = 0.01;

/// Half a message: acknowledgements may be an odd number of messages late.
const TICKS_PER_MESSAGE: u64 = 2;

const MICROS_PER_MS: u64 = 1000;

/// How messages travel, and when the sender gets to know.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Conditions {
    pub(super) mode: Mode,
    /// None for a stream.
    datagrams: Option<Datagrams>,
}

#[derive(Debug, Clone, Copy, PartialEq)]
struct Datagrams {
    acknowledged: Acknowledged,
    loss: f64,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Acknowledged {
    Messages(u32),
    Ms(u32),
}

impl Conditions {
    /// Everything that is measured; by recorded times only where a trace is timed.
    pub(super) fn all(timed: bool) -> Vec<Self> {
        let mut all = vec![Conditions { mode: Mode::Stream, datagrams: None }];
        for mode in [Mode::Datagram, Mode::Packet3, Mode::Packet10] {
            let by_ms = ACK_MS.map(Acknowledged::Ms);
            let by_ms = by_ms.into_iter().filter(|_| timed && mode == Mode::Datagram);
            for acknowledged in [Acknowledged::Messages(ACK_DELAY)].into_iter().chain(by_ms) {
                for loss in LOSSES {
                    all.push(Conditions {
                        mode,
                        datagrams: Some(Datagrams { acknowledged, loss }),
                    });
                }
            }
        }
        all
    }

    /// Whether a technique has a row here. Delays in ms are for those that acknowledgements matter to.
    pub(super) fn suit(&self, kind: &Kind) -> bool {
        kind.runs_over(self.mode) && (self.ack_ms().is_none() || kind.is_acknowledged)
    }

    pub(super) fn ack_delay(&self) -> Option<u32> {
        match self.datagrams?.acknowledged {
            Acknowledged::Messages(messages) => Some(messages),
            Acknowledged::Ms(_) => None,
        }
    }

    pub(super) fn ack_ms(&self) -> Option<u32> {
        match self.datagrams?.acknowledged {
            Acknowledged::Messages(_) => None,
            Acknowledged::Ms(ms) => Some(ms),
        }
    }

    pub(super) fn loss(&self) -> Option<f64> {
        self.datagrams.map(|datagrams| datagrams.loss)
    }

    /// When a message is sent, in the ticks of [`Conditions::path`].
    pub(super) fn sent_at(&self, session: &Session, message: usize) -> u64 {
        match self.ack_ms() {
            Some(_) => session.sent_at(message).as_micros() as u64,
            None => message as u64 * TICKS_PER_MESSAGE,
        }
    }

    /// The link there and back, each half of the way.
    pub(super) fn path<'a>(&self, sent_at: &'a dyn Fn(usize) -> u64, seed: u64) -> Path<'a> {
        let link =
            self.datagrams.map_or(LinkConfig::default(), |Datagrams { acknowledged, loss }| {
                let (round_trip, reorder_by) = match acknowledged {
                    Acknowledged::Messages(messages) => (
                        u64::from(messages) * TICKS_PER_MESSAGE,
                        REORDER_MESSAGES * TICKS_PER_MESSAGE,
                    ),
                    Acknowledged::Ms(ms) => {
                        (u64::from(ms) * MICROS_PER_MS, REORDER_MS * MICROS_PER_MS)
                    }
                };
                let (reorder, duplicate) =
                    if loss > 0.0 { (REORDER, DUPLICATE) } else { (0.0, 0.0) };
                LinkConfig { delay: round_trip / 2, loss, reorder, reorder_by, duplicate }
            });
        let messages_per_packet = self.mode.messages_per_packet();
        Path { messages_per_packet, sent_at, forward: link, back: link, seed }
    }
}
