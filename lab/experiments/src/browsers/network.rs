//! The networks, by name.

use std::path::Path as FilePath;
use std::sync::Arc;
use std::time::Duration;

use clap::ValueEnum;

use super::row::Direction;
use crate::Result;
use crate::emulator::Path;
use crate::options::named;
use crate::sim::{Capacity, CapacityTrace, LinkConfig, Loss, Queue};

const MS: Duration = Duration::from_millis(1);

/// The network between participants and the server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Network {
    /// Only the loopback device of the kernel.
    Loopback,
    /// 100 Mbit/s and no delay.
    Lan,
    /// The paper's ADSL line: 5 Mbit/s down, 64 kbit/s up, a round trip of 96 ms.
    Man,
    /// A round trip of 48 ms, at 100 Mbit/s.
    Wan,
    /// 20 ms and 3 % lost each way, at random.
    Lossy,
    /// A recorded cellular link towards the participant, the same delay as lossy.
    Cellular,
    /// The path to another machine, of which --far says where it is.
    Far,
}

named!(Network);

impl Network {
    /// The networks that are measured unless `--network` names others. A cellular network needs a
    /// recording.
    pub(crate) const USUAL: [Network; 5] =
        [Network::Loopback, Network::Lan, Network::Man, Network::Wan, Network::Lossy];

    /// The round trip of a packet that waits in no queue.
    pub(crate) fn round_trip(self) -> Duration {
        match self {
            Network::Loopback | Network::Lan | Network::Far => Duration::ZERO,
            Network::Man => 96 * MS,
            Network::Wan => 48 * MS,
            Network::Lossy | Network::Cellular => 40 * MS,
        }
    }

    /// The networks of the WEB paper (Methods).
    pub(crate) const PAPER: [Network; 3] = [Network::Lan, Network::Man, Network::Wan];

    /// The bytes per second of its link in a direction; infinite without a limit, or a known one.
    /// Of a path to another machine it is a guess: trials are fitted to what goes ahead of them.
    pub(super) fn bytes_per_second(self, direction: Direction) -> f64 {
        let kbit = match (self, direction) {
            (Network::Man, Direction::Up) => 64.0,
            (Network::Man, Direction::Down) => 5000.0,
            (Network::Lan | Network::Wan | Network::Far, _) => 1e5,
            (Network::Loopback | Network::Lossy | Network::Cellular, _) => f64::INFINITY,
        };
        kbit * 125.0
    }

    /// The uplink's bytes per second, if the uplink is narrow.
    pub(super) fn narrow(self) -> Option<f64> {
        (self == Network::Man).then_some(64.0 * 125.0)
    }
}

/// Conditions besides a network's own: a recording, and changes that apply to all networks.
#[derive(Debug, Clone, Default)]
pub(crate) struct Weather {
    /// The recording, for the network `Cellular`.
    pub(crate) trace: Option<Arc<CapacityTrace>>,
    /// Replaces the network's own loss, in each direction.
    pub(crate) loss: Option<Loss>,
    /// The largest additional delay, in each direction; packets stay in order.
    pub(crate) jitter: Duration,
    /// The probability that a packet is late by up to 10 ms and may be overtaken, each way.
    pub(crate) reorder: f64,
    /// Replaces the network's own queue.
    pub(crate) queue: Option<Queue>,
    /// Replaces the network's own round trip.
    pub(crate) round_trip: Option<Duration>,
}

impl Weather {
    /// The path of a participant.
    pub(crate) fn path(&self, network: Network, seed: u64) -> Path {
        let plain = |capacity| LinkConfig {
            capacity,
            delay: self.round_trip.unwrap_or(network.round_trip()) / 2,
            ..LinkConfig::default()
        };
        let (up, down) = match network {
            Network::Loopback | Network::Far => {
                (plain(Capacity::Unlimited), plain(Capacity::Unlimited))
            }
            Network::Lan | Network::Wan => (plain(Capacity::kbit(1e5)), plain(Capacity::kbit(1e5))),
            Network::Man => (plain(Capacity::kbit(64.0)), plain(Capacity::kbit(5000.0))),
            Network::Lossy => {
                let lossy = LinkConfig {
                    loss: Loss::Random { percent: 3.0 },
                    ..plain(Capacity::Unlimited)
                };
                (lossy.clone(), lossy)
            }
            Network::Cellular => {
                let trace = self.trace.clone().map_or(Capacity::Unlimited, Capacity::Trace);
                (plain(Capacity::kbit(5000.0)), plain(trace))
            }
        };
        Path { up: self.spoil(network, up), down: self.spoil(network, down), seed }
    }

    fn spoil(&self, network: Network, link: LinkConfig) -> LinkConfig {
        // On 100 Mbit/s the queue of a switch (100 packets or more), else of modems and base
        // stations.
        let queue = match network {
            Network::Lan | Network::Wan => Queue::Bytes(256 << 10),
            _ => Queue::Time(300 * MS),
        };
        LinkConfig {
            loss: self.loss.clone().unwrap_or(link.loss),
            jitter: self.jitter,
            reorder: self.reorder,
            reorder_by: 10 * MS,
            queue: self.queue.unwrap_or(queue),
            ..link
        }
    }
}

/// Reads a recording of a cellular link.
///
/// # Errors
/// The file is no such recording.
pub(super) fn read_trace(path: &FilePath) -> Result<Arc<CapacityTrace>> {
    use groupwire_trace::Error;

    let wrong = |line, why| Error::Row { path: path.to_owned(), line, why };
    let bytes = groupwire_trace::read_file(path)?;
    let text = std::str::from_utf8(&bytes).map_err(|_| wrong(1, "this is not text"))?;
    let trace = text.parse::<CapacityTrace>().map_err(|error| wrong(error.line, error.why))?;
    Ok(Arc::new(trace))
}
