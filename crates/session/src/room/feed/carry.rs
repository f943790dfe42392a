//! A feed's place in the log, and the loop that hands its messages to an encoder.

use crate::room::log::{Cursor, Filter, Item, Log, NotInMemory};

/// A feed's place in the log, and the end of what the feed may send at present.
#[derive(Debug, Clone, Copy, Default)]
pub(in crate::room) struct Feed {
    pub(in crate::room) cursor: Cursor,
    /// The end of the log at the last tick; for values, also at the time at which frames of sound
    /// were sent last (wire W119). Messages after it wait.
    pub(in crate::room) until: Cursor,
}

/// The result of [`Feed::carry`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::room) struct Carried {
    /// True if `push` accepted every message.
    pub(in crate::room) is_all: bool,
    /// True if the filter left out some values because they are not for the feed. Values that were
    /// left out because they had expired do not count.
    pub(in crate::room) has_left_out: bool,
}

impl Feed {
    /// A feed that starts at this cursor and may not send anything yet.
    pub(in crate::room) fn at(cursor: Cursor) -> Self {
        Feed { cursor, until: cursor }
    }

    /// Hands the feed's messages between its cursor and `until` to `push`, in order, until `push`
    /// returns false because a message does not fit. Moves the cursor past the messages that `push`
    /// accepted.
    ///
    /// # Errors
    /// [`NotInMemory`] if transactions that the feed still has to send are no longer in memory.
    pub(in crate::room) fn carry<'a>(
        &mut self,
        log: &'a Log,
        filter: Filter<'a>,
        mut push: impl FnMut(Item<'a>) -> bool,
    ) -> Result<Carried, NotInMemory> {
        let mut due = log.due(self.cursor, self.until, filter)?;
        let mut is_all = true;
        while let Some(item) = due.peek() {
            if !push(item) {
                is_all = false;
                break;
            }
            due.pass();
        }
        let Cursor { log: position, awareness, settled } = self.cursor;
        self.cursor = due.cursor();
        debug_assert!(
            self.cursor.log >= position
                && self.cursor.awareness >= awareness
                && self.cursor.settled >= settled,
            "a cursor never goes back"
        );
        Ok(Carried { is_all, has_left_out: due.has_left_out() })
    }
}
