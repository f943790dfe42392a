//! The receiving half of a connection: puts segments into order and says what arrived.

use std::collections::{BTreeMap, VecDeque};
use std::ops::Range;
use std::time::Duration;

use super::segment::MAX_SACKS;

/// The longest time that an acknowledgement waits for data to travel with, or for a second segment:
/// Linux's `TCP_DELACK_MIN`. Data that is sent within this time after a segment counts as an answer
/// to it (`TCP_ATO_MIN`).
const DELAY: Duration = Duration::from_millis(40);
/// The receive window beyond the bytes that arrived in order: the size to which Linux's buffers
/// grow.
const WINDOW: u64 = 6 << 20;

#[derive(Debug, Default)]
pub(super) struct Receiver {
    /// The sequence number up to which all bytes have arrived.
    next: u64,
    /// Bytes that arrived in order and were not yet read.
    ready: VecDeque<u8>,
    /// Segments that arrived beyond a hole, by their sequence numbers.
    later: BTreeMap<u64, Vec<u8>>,
    /// Sequence numbers in `later` that changed last, the newest first.
    recent: VecDeque<u64>,
    /// Segments that wait for their acknowledgement, and until when.
    unacknowledged: u32,
    due: Option<Duration>,
    /// The time at which the last segment with data arrived.
    last: Option<Duration>,
    /// Whether this end answers what comes. If it does not, an acknowledgement need not wait for an
    /// answer to travel with: Linux sends it as soon as the application has read a small segment
    /// (`pingpong`).
    answers: bool,
}

impl Receiver {
    /// Handles the data of a segment.
    pub(super) fn receive(&mut self, now: Duration, seq: u64, data: &[u8]) {
        let end = seq + data.len() as u64;
        if data.is_empty() || end > self.next + WINDOW {
            return;
        }
        self.last = Some(now);
        if seq > self.next {
            let known = self.later.entry(seq).or_default();
            if known.len() < data.len() {
                *known = data.to_vec();
            }
            self.recent.push_front(seq);
            // Blocks that became one fill several places: twice as many as are reported are enough.
            self.recent.truncate(2 * MAX_SACKS);
            self.due = Some(now);
            return;
        }
        let repeated = end <= self.next;
        let filled = !self.later.is_empty();
        self.append(seq, data);
        while let Some(first) = self.later.first_entry().filter(|first| *first.key() <= self.next) {
            let (seq, data) = first.remove_entry();
            self.append(seq, &data);
        }
        self.unacknowledged += 1;
        self.answers &= !repeated;
        // An acknowledgement leaves at once for each second segment, for data that fills a hole
        // (RFC 5681, 4.2), and for data that had arrived before.
        let waits = self.answers && !filled && self.unacknowledged == 1;
        let delay = if waits { DELAY } else { Duration::ZERO };
        self.due = Some(self.due.map_or(now + delay, |due| due.min(now + delay)));
    }

    /// The bytes that have arrived in order and wait to be read.
    pub(super) fn ready(&mut self) -> &mut VecDeque<u8> {
        &mut self.ready
    }

    /// The time at which the acknowledgement that waits has to be sent.
    pub(super) fn due(&self) -> Option<Duration> {
        self.due
    }

    /// This end sends data, which carries the acknowledgement.
    pub(super) fn data_leaves(&mut self, now: Duration) {
        self.answers |= self.last.is_some_and(|last| now < last + DELAY);
    }

    /// The acknowledgement is sent alone. If it has waited, that was in vain, and the next one does
    /// not wait.
    pub(super) fn goes_alone(&mut self, now: Duration) {
        self.answers &= self.last == Some(now);
    }

    /// The sequence number and the blocks of an acknowledgement that leaves now.
    pub(super) fn acknowledge(&mut self) -> (u64, Vec<Range<u64>>) {
        self.unacknowledged = 0;
        self.due = None;
        (self.next, self.blocks())
    }

    fn append(&mut self, seq: u64, data: &[u8]) {
        // Bytes that arrived before are skipped.
        let new = data.get((self.next - seq) as usize..).unwrap_or_default();
        self.ready.extend(new);
        self.next += new.len() as u64;
    }

    /// Blocks beyond the first hole, those that changed last first (RFC 2018, 4).
    fn blocks(&mut self) -> Vec<Range<u64>> {
        let next = self.next;
        self.recent.retain(|seq| *seq > next);
        let mut blocks: Vec<Range<u64>> = Vec::new();
        for &seq in &self.recent {
            if blocks.len() < MAX_SACKS && !blocks.iter().any(|block| block.contains(&seq)) {
                blocks.push(self.block_around(seq));
            }
        }
        blocks
    }

    fn block_around(&self, seq: u64) -> Range<u64> {
        let mut block = seq..seq;
        for (&start, data) in self.later.range(seq..) {
            if start > block.end {
                break;
            }
            block.end = block.end.max(start + data.len() as u64);
        }
        for (&start, data) in self.later.range(..seq).rev() {
            if start + (data.len() as u64) < block.start {
                break;
            }
            block.start = start;
        }
        block
    }
}

#[cfg(test)]
#[expect(clippy::single_range_in_vec_init, reason = "these are lists of blocks")]
mod tests {
    use super::*;

    const MS: Duration = Duration::from_millis(1);

    #[test]
    fn segments_are_put_into_order() {
        let mut receiver = Receiver::default();
        for (seq, data) in [(2, "cd"), (6, "gh"), (2, "cd"), (0, "ab"), (4, "efgh"), (3, "def")] {
            receiver.receive(MS, seq, data.as_bytes());
        }
        assert!(receiver.ready().iter().eq(b"abcdefgh"));
        assert_eq!(receiver.acknowledge(), (8, vec![]));
        receiver.receive(MS, 9 + WINDOW, b"beyond the window");
        assert_eq!(receiver.acknowledge(), (8, vec![]));
    }

    #[test]
    fn acknowledgements_wait_for_a_second_segment_but_not_with_holes() {
        let mut receiver = Receiver::default();
        receiver.receive(10 * MS, 0, b"a");
        assert_eq!(receiver.due(), Some(10 * MS), "from an end that only receives");
        receiver.data_leaves(12 * MS);
        receiver.acknowledge();
        receiver.receive(15 * MS, 1, b"b");
        assert_eq!(receiver.due(), Some(55 * MS));
        receiver.receive(20 * MS, 2, b"c");
        assert_eq!(receiver.due(), Some(20 * MS));
        assert_eq!(receiver.acknowledge(), (3, vec![]));
        assert_eq!(receiver.due(), None);
        receiver.receive(30 * MS, 4, b"e");
        assert_eq!(receiver.due(), Some(30 * MS));
        assert_eq!(receiver.acknowledge(), (3, vec![4..5]));
        receiver.receive(40 * MS, 3, b"d");
        assert_eq!(receiver.due(), Some(40 * MS), "a hole was filled");
        receiver.acknowledge();
        receiver.receive(50 * MS, 3, b"d");
        assert_eq!(receiver.due(), Some(50 * MS), "it was there");
    }

    #[test]
    fn an_acknowledgement_that_waited_in_vain_is_the_last_that_waits() {
        let mut receiver = Receiver::default();
        receiver.receive(10 * MS, 0, b"a");
        receiver.data_leaves(10 * MS);
        receiver.acknowledge();
        receiver.receive(20 * MS, 1, b"b");
        assert_eq!(receiver.due(), Some(60 * MS));
        receiver.goes_alone(60 * MS);
        receiver.acknowledge();
        receiver.receive(90 * MS, 2, b"c");
        assert_eq!(receiver.due(), Some(90 * MS));
    }

    #[test]
    fn the_newest_blocks_are_reported() {
        let mut receiver = Receiver::default();
        for seq in [10, 30, 50, 70, 90, 92, 31, 91] {
            receiver.receive(MS, seq, b"x");
        }
        assert_eq!(receiver.acknowledge(), (0, vec![90..93, 30..32, 70..71]));
    }
}
