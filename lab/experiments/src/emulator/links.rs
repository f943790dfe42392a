//! The links of a path at work.

use std::time::Instant;

use super::courier::Courier;
use super::{Path, PathStats};
use crate::sim::{Link, LinkConfig, LinkStats};

/// Both directions of a path.
#[derive(Debug)]
pub(super) struct Links {
    pub(super) up: Direction,
    pub(super) down: Direction,
    /// Whether the client has moved to another network.
    pub(super) has_moved: bool,
}

/// One direction of a path.
#[derive(Debug)]
pub(super) struct Direction {
    pub(super) link: Link,
    /// When the link's time began.
    start: Instant,
    /// Packets that the courier had no room for.
    refused: u64,
    /// Bytes above TCP or UDP.
    content: u64,
}

impl Links {
    /// The links of a path, whose packets have so many bytes of headers that we do not see.
    pub(super) fn new(path: &Path, header: usize) -> Self {
        let direction = |config: &LinkConfig, seed| Direction {
            link: Link::new(LinkConfig { header, ..config.clone() }, seed),
            start: Instant::now(),
            refused: 0,
            content: 0,
        };
        // Two seeds for each of the path's, so that no direction loses what another does.
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
    /// Hands a packet to the courier, as a parcel, for when it arrives; `content` is how many of its bytes are above TCP
    /// or UDP.
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
