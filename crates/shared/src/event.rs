//! What goes into shared data from its room, and what it tells the application.

use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use crate::tables::{CELLS, COUNTER, Changes, LOCK, REDUCED, TURNS};
use crate::text::{Text, of_units};

/// What happened in the room. Each input is one of the events of a Groupwire client.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub enum Input<'a> {
    /// A transaction on the channel of the shared data, at its place in the room's order; own ones,
    /// too.
    Message {
        /// The participant that sent it, as the server says.
        sender: u64,
        /// The message, if it is text.
        text: Option<&'a str>,
    },
    /// The channel's entry about a participant that has left the room for good.
    Departed(u64),
    /// A message on the channel of the previews, of another participant.
    Preview {
        /// The participant that sent it, as the server says.
        sender: u64,
        /// The key of the message.
        key: &'a str,
        /// The message, if it is text.
        text: Option<&'a str>,
        /// True if a later transaction of its sender has overtaken it.
        is_stale: bool,
    },
    /// The part of the room's snapshot that belongs to the shared data.
    Snapshot(&'a [u8]),
    /// Something is lost.
    Gap(Gap),
    /// All late-joiner state is there.
    Synced,
    /// Participants came, changed or left, or this program is connected or not.
    Participants {
        /// This participant; `None` before it has joined.
        me: Option<u64>,
        /// The other participants: true for those who are here, false for those who are away.
        others: &'a BTreeMap<u64, bool>,
        /// True while this program is connected.
        is_connected: bool,
    },
    /// The room takes messages again.
    Drain,
    /// The room's number of own transactions that are not confirmed, when it is no longer 0 and
    /// when it is 0 again.
    Unconfirmed(usize),
}

/// The part that is lost.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Gap {
    /// The server has lost the room.
    Incarnation,
    /// The room no longer has some transactions of the channel.
    History,
    /// An administrator has emptied the channel.
    Reset,
}

/// What shared data tells the application.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Event {
    /// Data may have changed, or the number of pending operations, [`is_complete`] or
    /// [`is_restoring`].
    ///
    /// [`is_complete`]: crate::Shared::is_complete
    /// [`is_restoring`]: crate::Shared::is_restoring
    Changed(Vec<Change>),
    /// An operation was applied at its place in the room's order.
    Operation {
        /// The participant that sent it.
        sender: u64,
        /// The data that it may have changed: names, each with the key of a value if the action
        /// concerns one.
        changes: Vec<(Text, Option<Text>)>,
    },
    /// Something is lost.
    Lost(Lost),
}

/// Data of one name that may have changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    /// The name of the data.
    pub name: Text,
    /// The kind of the data.
    pub kind: Kind,
    /// The keys of a map, or the ids of a list, that may have changed; for other kinds one empty
    /// key.
    pub keys: Vec<Text>,
}

/// A kind of shared data. The names of two kinds do not conflict.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Kind {
    /// A map or a list.
    Cells,
    /// A counter.
    Counter,
    /// A value with a reducer.
    Reducer,
    /// A lock.
    Lock,
    /// Turns.
    Turns,
}

/// Why this program does not have all of the shared data.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Lost {
    /// Transactions are missing that the room no longer has: join the room anew.
    History,
    /// The server has lost the room, and this program came back too late to restore its state.
    Restart,
    /// A snapshot is malformed.
    Snapshot,
}

/// The changes as the application is told them.
pub(crate) fn told(changes: &Changes) -> Vec<Change> {
    let told = changes.iter().filter_map(|(table, keys)| {
        let mut units = table.units();
        let kind = match units.next().and_then(|unit| char::from_u32(unit.into())) {
            Some(letter) => kind_of(letter)?,
            None => return None,
        };
        Some(Change {
            name: of_units(units),
            kind,
            keys: keys.iter().map(|(key, ())| key.clone()).collect(),
        })
    });
    told.collect()
}

fn kind_of(letter: char) -> Option<Kind> {
    let kinds = [
        (CELLS, Kind::Cells),
        (COUNTER, Kind::Counter),
        (REDUCED, Kind::Reducer),
        (LOCK, Kind::Lock),
        (TURNS, Kind::Turns),
    ];
    kinds.into_iter().find_map(|(name, kind)| name.starts_with(letter).then_some(kind))
}
