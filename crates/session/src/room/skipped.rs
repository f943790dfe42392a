//! Which members of shared streams ticks skip.

use alloc::vec::Vec;

use super::feed::SharedStreams;
use super::log::Cursor;
use crate::{GroupId, LinkId, ParticipantId};

/// The members of shared streams that ticks skip.
#[derive(Default)]
pub(super) struct Skipped {
    /// By stream; none if ticks look at everybody.
    pub(super) lists: Vec<List>,
    /// The other participants with a transport, in the order of their numbers, unless `lists` is empty.
    pub(super) others: Vec<ParticipantId>,
    /// The end of the log at the last tick.
    pub(super) until: Cursor,
}

/// The members of one stream that ticks skip. They have been sent all payloads.
pub(super) struct List {
    pub(super) group: GroupId,
    /// The number of the stream's next payload, and the stream's place in the log.
    pub(super) next: u64,
    pub(super) at: Cursor,
    /// Their transports, in the order of their numbers.
    pub(super) links: Vec<LinkId>,
}

impl Skipped {
    /// True if a tick with messages up to `until` may skip the same participants as the last one. If there are transactions, some
    /// members may have to be sent other frames. Members of a stream with several new payloads need several packets.
    pub(super) fn goes_on(&self, until: Cursor, streams: &SharedStreams) -> bool {
        let is_near = |list: &List| {
            let stream = streams.get(list.group);
            stream.is_some_and(|stream| stream.end() <= list.next + 1)
        };
        !self.lists.is_empty() && until.log == self.until.log && self.lists.iter().all(is_near)
    }

    /// Begins to skip the participants in the lists at a tick with messages up to `until`.
    pub(super) fn begin(&mut self, until: Cursor) {
        self.until = until;
        self.lists.iter_mut().for_each(|list| list.links.sort_unstable());
        if self.lists.is_empty() {
            self.others.clear();
        }
    }
}
