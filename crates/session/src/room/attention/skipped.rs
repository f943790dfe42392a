//! The members of shared streams that ticks skip, because they need nothing but the next payload of
//! their stream. `periodic/release.rs` says why.

use alloc::vec::Vec;

use crate::room::feed::SharedStreams;
use crate::room::log::Cursor;
use crate::{GroupId, LinkId, ParticipantId};

/// See the [module](self).
#[derive(Default)]
pub(in crate::room) struct Skipped {
    /// One list for each stream. Empty if ticks look at every participant.
    pub(in crate::room) lists: Vec<List>,
    /// The other participants with a transport, in the order of their numbers, unless `lists` is
    /// empty.
    pub(in crate::room) others: Vec<ParticipantId>,
    /// The end of the log at the last tick.
    pub(in crate::room) until: Cursor,
}

/// The members of one stream that ticks skip. They have been sent all payloads.
pub(in crate::room) struct List {
    pub(in crate::room) group: GroupId,
    /// The number of the stream's next payload, and the stream's place in the log.
    pub(in crate::room) next: u64,
    pub(in crate::room) at: Cursor,
    /// The members' transports, in the order of their numbers.
    pub(in crate::room) links: Vec<LinkId>,
}

impl Skipped {
    /// True if a tick with messages up to `until` may skip the same participants as the last one.
    /// If there are transactions, some members may have to be sent other frames. Members of a
    /// stream with several new payloads need several packets.
    pub(in crate::room) fn goes_on(&self, until: Cursor, streams: &SharedStreams) -> bool {
        let is_near = |list: &List| {
            let stream = streams.get(list.group);
            stream.is_some_and(|stream| stream.end() <= list.next + 1)
        };
        !self.lists.is_empty() && until.log == self.until.log && self.lists.iter().all(is_near)
    }

    /// Begins to skip the participants in the lists at a tick with messages up to `until`.
    pub(in crate::room) fn begin(&mut self, until: Cursor) {
        self.until = until;
        self.lists.iter_mut().for_each(|list| list.links.sort_unstable());
        if self.lists.is_empty() {
            self.others.clear();
        }
    }
}
