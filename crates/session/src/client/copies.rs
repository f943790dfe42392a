//! Transactions that datagrams brought before the stream did (wire.md W81 to W83).

use alloc::collections::VecDeque;
use core::time::Duration;

use super::Client;
use crate::Error;
use crate::ids::{Counter, Position};
use crate::wire::record::Record;

/// Transactions that are delivered before the stream brings them, at most: what a server copies at a time.
const MAX_AHEAD: usize = 64;

/// How far the datagrams of one transport are ahead of its stream.
#[derive(Debug, Default)]
pub(super) struct Copies {
    /// Positions that were delivered and that the stream has yet to bring, in this order.
    ahead: VecDeque<Position>,
    /// While there are any: the position that the stream has reached.
    streamed: Position,
}

impl Copies {
    /// The position that the stream has reached, if this one was delivered.
    pub(super) fn streamed(&self, position: Position) -> Position {
        if self.ahead.is_empty() { position } else { self.streamed }
    }

    /// The stream brings this one. `true`: it was delivered before.
    pub(super) fn came(&mut self, position: Position) -> bool {
        let is_first = self.ahead.front() == Some(&position);
        if is_first {
            self.ahead.pop_front();
            self.streamed = position;
        }
        is_first
    }

    /// The stream has reached this position without bringing what lies before it.
    pub(super) fn passed(&mut self, position: Position) {
        while self.ahead.front().is_some_and(|&first| first <= position) {
            self.ahead.pop_front();
        }
        self.streamed = self.streamed.max(position);
    }

    fn has_room(&self) -> bool {
        self.ahead.len() < MAX_AHEAD
    }

    /// A copy of this one was delivered after `before`.
    fn delivered(&mut self, before: Position, position: Position) {
        if self.ahead.is_empty() {
            self.streamed = before;
        }
        self.ahead.push_back(position);
    }
}

impl Client {
    /// W83: delivers a copy if it is the next transaction. What is not, the stream brings.
    pub(super) fn deliver_copy(
        &mut self,
        record: &Record<'_>,
        counter: Counter,
        position: Position,
        previous: Position,
    ) -> Result<(), Error> {
        let before = self.position;
        let is_next = previous <= before && before < position;
        let channel = self.by_id.get(&record.channel).map(|&at| &self.channels[at]);
        // Before the channel is synced, older ones of it may be on their way over the stream.
        let is_synced = channel.is_some_and(|channel| channel.synced);
        if !is_next || !is_synced || self.download.is_some() || !self.copies.has_room() {
            return Ok(());
        }
        if record.own {
            self.own(counter, position)?;
            self.position = position;
        } else {
            self.deliver(Duration::ZERO, record)?;
        }
        self.copies.delivered(before, position);
        Ok(())
    }
}
