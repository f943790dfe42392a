//! What an operation has done, so that it can be reverted and undone.

use alloc::collections::VecDeque;
use alloc::vec::Vec;

use crate::json::Json;
use crate::operation::Action;
use crate::text::Text;

/// A deleted value: its table, its key and the stamp of the deletion.
pub(crate) type Deleted = Vec<Text>;

/// A value as it was before a change.
#[derive(Debug)]
pub(crate) struct Before {
    pub(crate) table: Text,
    pub(crate) key: Text,
    pub(crate) value: Option<Json>,
}

/// The journal, the inverse actions and the deletions of an operation.
#[derive(Debug, Default)]
pub(crate) struct Effect {
    /// The values that were replaced. They are put back from last to first. `None`: the changes are
    /// final.
    pub(crate) journal: Option<Vec<Before>>,
    /// Actions that undo the operation, the last one first, if nobody else has changed the same
    /// since.
    pub(crate) inverse: VecDeque<Action>,
    /// Values that it deleted.
    pub(crate) deleted: Vec<Deleted>,
}

impl Effect {
    /// The effect of an operation that is not ordered yet.
    pub(crate) fn reversible() -> Self {
        Effect { journal: Some(Vec::new()), ..Effect::default() }
    }

    /// Whether the operation has changed anything.
    pub(crate) fn has_changed(&self) -> bool {
        self.journal.as_ref().is_some_and(|journal| !journal.is_empty())
    }

    pub(crate) fn undone_by(
        &mut self,
        name: &Text,
        verb: &str,
        rest: impl IntoIterator<Item = Json>,
    ) {
        self.inverse.push_front(Action::new(name, verb, rest));
    }
}
