//! The conditions under which techniques are measured: packets, losses, delays of acknowledgements.

use super::drive::Path;
use super::input::Session;
use super::row::Mode;
use super::techniques::Kind;
use crate::link::LinkConfig;

/// The number of messages that are sent before the sender knows what arrived: a round trip of 100
/// ms at the 100 messages per second of four people.
const ACK_DELAY: u32 = 10;

/// Delays of acknowledgements in ms: round trips of a continent, of an ocean, and of a bad day.
const ACK_MS: [u32; 3] = [100, 200, 400];

/// Loss for datagrams: none, and a bad wireless link.
const LOSSES: [f64; 2] = [0.0, 0.2];

/// The share of packets that are late, where packets get lost at all.
const REORDER: f64 = 0.05;

/// The most messages that may overtake a late one.
const REORDER_MESSAGES: u64 = 3;

/// The most ms by which a packet is late, where time counts in ms.
const REORDER_MS: u64 = 50;

/// The share of packets that arrive twice.
const DUPLICATE: f64 = 0.01;

/// Half a message: acknowledgements may be an odd number of messages late.
const TICKS_PER_MESSAGE: u64 = 2;

const MICROS_PER_MS: u64 = 1000;

/// The losses of packets, and the delay of acknowledgements.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Conditions {
    pub(super) mode: Mode,
    /// The conditions of datagrams; `None` for a stream.
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
    /// All conditions that are measured. Acknowledgements after a time need a trace with times.
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

    /// A link that loses nothing, and acknowledges datagrams some messages later.
    pub(super) fn without_loss(mode: Mode) -> Self {
        let acknowledged = Acknowledged::Messages(ACK_DELAY);
        let datagrams = (mode != Mode::Stream).then_some(Datagrams { acknowledged, loss: 0.0 });
        Conditions { mode, datagrams }
    }

    /// A message per datagram, acknowledged this many messages later.
    pub(super) fn datagrams(ack_delay: u32, loss: f64) -> Self {
        let acknowledged = Acknowledged::Messages(ack_delay);
        Conditions { mode: Mode::Datagram, datagrams: Some(Datagrams { acknowledged, loss }) }
    }

    /// Whether a technique has a row here. Rows with delays in ms are only for techniques with
    /// acknowledgements.
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

    /// The time at which a message is sent, in the ticks of [`Conditions::path`].
    pub(super) fn sent_at(&self, session: &Session, message: usize) -> u64 {
        match self.ack_ms() {
            Some(_) => session.sent_at(message).as_micros() as u64,
            None => message as u64 * TICKS_PER_MESSAGE,
        }
    }

    /// The links there and back, each with half of the delay.
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
