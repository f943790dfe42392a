//! How far a feed has come in the log, and its way through the messages that are due.

use crate::room::log::{Cursor, Filter, Item, Log, NotInMemory};

/// How far a feed has come, and how far it may come.
#[derive(Debug, Clone, Copy, Default)]
pub(in crate::room) struct Feed {
    pub(in crate::room) cursor: Cursor,
    /// What the last tick let go.
    pub(in crate::room) until: Cursor,
}

/// How far [`Feed::carry`] came.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::room) struct Carried {
    /// Everything that was due was taken.
    pub(in crate::room) is_all: bool,
    /// Among the messages were values that are not for the feed. Values whose time was over do not count.
    pub(in crate::room) has_left_out: bool,
}

impl Feed {
    /// A feed that begins here, with nothing due.
    pub(in crate::room) fn at(cursor: Cursor) -> Self {
        Feed { cursor, until: cursor }
    }

    /// Hands to `push` what is due, in order, until `push` returns false because there is no place for more.
    ///
    /// # Errors
    /// [`NotInMemory`], if transactions are due that the log does not hold any more.
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
