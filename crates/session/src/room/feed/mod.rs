//! Feeds: what receivers are sent of the log.
//!
//! A feed is a cursor into the log, a filter and an encoder, for one receiver or for many. There are four:
//!
//! | | over the stream | as datagrams |
//! | --- | --- | --- |
//! | one receiver | [`private_stream`] | [`private_datagrams`] |
//! | a fan-out group | [`shared_stream`] | [`group`] |
//!
//! Which messages a feed carries is decided by the [`Filter`] that it states. How often something is repeated, and that a
//! receiver asked for fewer values ([`downsampling`]), are policies of a feed.

pub(super) mod copies;
pub(super) mod downsampling;
pub(super) mod group;
pub(super) mod private_datagrams;
pub(super) mod private_stream;
mod record;
pub(super) mod shared_stream;

pub(super) use group::Groups;
pub(super) use record::RecordBuilder;
pub(super) use shared_stream::SharedStreams;

use super::log::{Cursor, Filter, Item, Log, NotInMemory};

/// How far a feed has come, and how far it may come.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Feed {
    pub(super) cursor: Cursor,
    /// What the last tick let go.
    pub(super) until: Cursor,
}

/// How far [`Feed::carry`] came.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Carried {
    /// Everything that was due was taken.
    pub(super) is_all: bool,
    /// Among the messages were values that are not for the feed. Values whose time was over do not count.
    pub(super) has_left_out: bool,
}

impl Feed {
    /// A feed that begins here, with nothing due.
    pub(super) fn at(cursor: Cursor) -> Self {
        Feed { cursor, until: cursor }
    }

    /// Hands to `push` what is due, in order, until `push` returns false because there is no place for more.
    ///
    /// # Errors
    /// [`NotInMemory`], if transactions are due that the log does not hold any more.
    pub(super) fn carry<'a>(
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
        self.cursor = due.cursor();
        Ok(Carried { is_all, has_left_out: due.has_left_out() })
    }
}
