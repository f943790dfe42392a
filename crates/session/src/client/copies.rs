//! Transactions that datagrams brought before the stream did (wire W81 to W83).

use alloc::collections::VecDeque;

use crate::ids::Position;

/// The most transactions that may be delivered before the stream brings them.
const MAX_AHEAD: usize = 64;

/// How far the datagrams of one transport are ahead of its stream.
#[derive(Debug, Default)]
pub(super) struct Copies {
    /// Positions that were delivered and that the stream has yet to bring, in ascending order.
    ahead: VecDeque<Position>,
    /// The position that the stream has reached, as long as `ahead` is not empty.
    streamed: Position,
}

impl Copies {
    /// The position that the stream has reached, if all up to `position` was delivered.
    pub(super) fn streamed(&self, position: Position) -> Position {
        if self.ahead.is_empty() { position } else { self.streamed }
    }

    /// The stream brings the transaction at `position`. `true`: a copy of it was delivered before.
    pub(super) fn is_delivered(&mut self, position: Position) -> bool {
        let is_first = self.ahead.front() == Some(&position);
        if is_first {
            self.ahead.pop_front();
            self.streamed = position;
        }
        is_first
    }

    /// The stream has moved on to `position` without bringing the transactions before it.
    pub(super) fn passed(&mut self, position: Position) {
        while self.ahead.front().is_some_and(|&first| first <= position) {
            self.ahead.pop_front();
        }
        self.streamed = self.streamed.max(position);
    }

    /// True if another copy may be delivered while the stream has not brought all transactions of
    /// earlier copies.
    pub(super) fn takes_more(&self) -> bool {
        self.ahead.len() < MAX_AHEAD
    }

    /// A copy of the transaction at `position` was delivered. `before`: the newest position that
    /// was delivered before it.
    pub(super) fn delivered(&mut self, before: Position, position: Position) {
        if self.ahead.is_empty() {
            self.streamed = before;
        }
        debug_assert!(
            self.ahead.back().is_none_or(|last| *last < position),
            "copies arrive in order"
        );
        self.ahead.push_back(position);
    }
}
