//! For people who look on.

use alloc::vec::Vec;

use super::Encoder;
use crate::describe::Description;

impl Encoder {
    /// Whether [`Encoder::costs`] is to be kept from the next packet on.
    pub fn set_costing(&mut self, costing: bool) {
        self.stream.costs = costing.then(Vec::new);
    }

    /// What each message of the last packet takes in it, in eighths of a bit, while
    /// [that is asked for](Encoder::set_costing). What is left of the packet names the epoch, says that the packet ends,
    /// and rounds up to whole octets. Empty if a codec made the packet of all messages together.
    pub fn costs(&self) -> &[u32] {
        self.stream.costs.as_deref().unwrap_or_default()
    }

    /// What the model knows of message types.
    pub fn templates(&self) -> Vec<Description> {
        self.stream.describe()
    }

    pub(super) fn clear_costs(&mut self) {
        if let Some(costs) = &mut self.stream.costs {
            costs.clear();
        }
    }
}
