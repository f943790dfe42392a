//! Undo and redo of this program's own operations. Undoing an operation is an operation, too: it
//! restores the values from before, except values that other participants have changed since.

use alloc::collections::VecDeque;
use alloc::vec::Vec;

use crate::replica::{PartId, Replica};

/// The largest number of operations that can be undone: each keeps the values that it replaced.
const MAX_STEPS: usize = 200;

/// Own operations that are undone together, in their order.
pub(crate) type Step = Vec<PartId>;

/// Whether a step reverses an operation, or its undo.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Direction {
    Undo,
    Redo,
}

#[derive(Debug, Default)]
pub(crate) struct History {
    undo: VecDeque<Step>,
    redo: Vec<Step>,
}

impl History {
    pub(crate) fn can(&self, direction: Direction) -> bool {
        match direction {
            Direction::Undo => !self.undo.is_empty(),
            Direction::Redo => !self.redo.is_empty(),
        }
    }

    /// Adds an operation of the user. Operations undone before cannot be redone any more.
    pub(crate) fn add(&mut self, step: Step, replica: &mut Replica) {
        self.undo.push_back(step);
        if self.undo.len() > MAX_STEPS {
            self.undo.pop_front().iter().for_each(|step| replica.forget(step));
        }
        self.redo.drain(..).for_each(|step| replica.forget(&step));
    }

    /// Takes the last step in a direction.
    pub(crate) fn take(&mut self, direction: Direction) -> Option<Step> {
        match direction {
            Direction::Undo => self.undo.pop_back(),
            Direction::Redo => self.redo.pop(),
        }
    }

    /// Keeps the operation that a step in this direction made, so that it can be reversed.
    pub(crate) fn keep(&mut self, direction: Direction, reverse: Step) {
        match direction {
            Direction::Undo => self.redo.push(reverse),
            Direction::Redo => self.undo.push_back(reverse),
        }
    }
}
