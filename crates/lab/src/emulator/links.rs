use super::{Path, PathStats};
use crate::sim::{Link, LinkConfig};

/// Both directions of a path at work.
#[derive(Debug)]
pub(super) struct Links {
    pub(super) up: Link,
    pub(super) down: Link,
}

impl Links {
    /// The links of a path, whose packets have so many bytes of headers that we do not see.
    pub(super) fn new(path: &Path, header: usize) -> Self {
        let link =
            |config: &LinkConfig, seed| Link::new(LinkConfig { header, ..config.clone() }, seed);
        // Two seeds for each of the path's, so that no direction loses what another does.
        let seed = path.seed.wrapping_mul(2);
        Links { up: link(&path.up, seed), down: link(&path.down, seed.wrapping_add(1)) }
    }

    pub(super) fn stats(&self) -> PathStats {
        PathStats { up: self.up.stats(), down: self.down.stats() }
    }
}
