//! What an encoder shows to tools that inspect a connection.

use alloc::vec::Vec;

use super::Encoder;
use crate::describe::Description;

impl Encoder {
    /// Switches [`Encoder::costs`] on or off from the next packet on.
    pub fn set_costing(&mut self, costing: bool) {
        self.stream.costs = costing.then(Vec::new);
    }

    /// How many eighths of a bit each message of the last packet took, while [switched
    /// on](Encoder::set_costing). The other bits of the packet name the version of the model, mark
    /// the end of the packet and fill its last byte. Empty if a codec compressed all messages
    /// together.
    pub fn costs(&self) -> &[u32] {
        self.stream.costs.as_deref().unwrap_or_default()
    }

    /// The message types that the encoder has learned: the parts that their messages share, and the
    /// places where these differ.
    pub fn templates(&self) -> Vec<Description> {
        self.stream.describe()
    }

    pub(super) fn clear_costs(&mut self) {
        if let Some(costs) = &mut self.stream.costs {
            costs.clear();
        }
    }
}
