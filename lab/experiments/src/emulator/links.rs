//! The simulated links of a path, which decide when each packet arrives.

use std::time::Instant;

use super::courier::Courier;
use super::{Path, PathStats};
use crate::sim::{Link, LinkConfig, LinkStats};

/// The links of both directions of a path.
#[derive(Debug)]
pub(super) struct Links {
    pub(super) up: Direction,
    pub(super) down: Direction,
    /// Whether the client has moved to another network.
    pub(super) has_moved: bool,
}

/// The link of one direction of a path.
#[derive(Debug)]
pub(super) struct Direction {
    pub(super) link: Link,
    /// The time at which the link's clock was 0.
    start: Instant,
    /// Packets that the courier had no room for.
    refused: u64,
    /// Bytes of payload above TCP or UDP.
    content: u64,
}

impl Links {
    /// The links of a path. The headers of its packets take `header` bytes, which the emulator does
    /// not see.
    pub(super) fn new(path: &Path, header: usize) -> Self {
        let direction = |config: &LinkConfig, seed| Direction {
            link: Link::new(LinkConfig { header, ..config.clone() }, seed),
            start: Instant::now(),
            refused: 0,
            content: 0,
        };
        // Each direction has a seed of its own, so that they do not lose the same packets.
        let seed = path.seed.wrapping_mul(2);
        Links {
            up: direction(&path.up, seed),
            down: direction(&path.down, seed.wrapping_add(1)),
            has_moved: false,
        }
    }

    pub(super) fn stats(&self) -> PathStats {
        PathStats {
            up: self.up.stats(),
            down: self.down.stats(),
            up_content: self.up.content,
            down_content: self.down.content,
        }
    }
}

impl Direction {
    /// Passes a packet to the courier, as a parcel that is due when the packet arrives. `content`
    /// is the number of its bytes above TCP or UDP.
    pub(super) fn carry<T>(
        &mut self,
        (packet, content): (&mut [u8], usize),
        courier: &Courier<T>,
        parcel: impl Fn(&[u8]) -> T,
    ) {
        self.content += content as u64;
        let arrivals = self.link.send(self.start.elapsed(), packet.len());
        if arrivals.corrupt {
            self.link.damage(packet);
        }
        for arrival in arrivals.first.into_iter().chain(arrivals.second) {
            self.refused += u64::from(!courier.send(self.start + arrival, parcel(packet)));
        }
    }

    fn stats(&self) -> LinkStats {
        let stats = self.link.stats();
        LinkStats { dropped: stats.dropped + self.refused, ..stats }
    }
}
