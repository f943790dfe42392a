//! The numbers that records skip (W21 to W24), counted as docs/wire/session.md says.

use std::collections::BTreeMap;

use super::{Fields, Frame};

/// The numbers of one direction of a transport.
#[derive(Debug, Clone, Default)]
pub(crate) struct Numbers {
    index: BTreeMap<(u64, u64), u32>,
    counter: BTreeMap<u64, u32>,
    position: u64,
}

/// The decoded numbers of a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Meaning {
    Awareness { index: u32, after: u32 },
    Transaction { counter: u32, position: u64 },
}

impl Numbers {
    /// Own transactions are counted from `counter`; towards the server, an end's own have sender 0.
    pub(crate) fn new(own: u64, counter: u64, position: u64) -> Self {
        let counter = BTreeMap::from([(own, counter as u32)]);
        Numbers { index: BTreeMap::new(), counter, position }
    }

    /// Reads a record; `is_awareness` is the kind of its channel, `is_up` its direction.
    pub(crate) fn read(&mut self, record: &Fields, is_awareness: bool, is_up: bool) -> Meaning {
        let [channel, sender, flags] =
            ["channel", "sender", "flags"].map(|name| record.number(name));
        let [gap, stamp] = ["gap", "stamp"].map(|name| record.number(name) as u32);
        let last = self.counter.entry(sender).or_default();
        if is_awareness && flags & 16 == 0 {
            let signed = (stamp >> 1) ^ (stamp & 1).wrapping_neg();
            *last = last.wrapping_add(signed);
            let index = self.index.entry((channel, sender)).or_default();
            *index = index.wrapping_add(gap).wrapping_add(1);
            return Meaning::Awareness { index: *index, after: *last };
        }
        if flags & 64 != 0 {
            return Meaning::Transaction { counter: gap, position: stamp.into() };
        }
        *last = last.wrapping_add(gap).wrapping_add(1);
        if !is_up {
            self.position += u64::from(stamp) + 1;
        }
        Meaning::Transaction { counter: *last, position: self.position }
    }

    /// The gap and stamp of the next awareness message of a channel, and of the next transaction,
    /// towards the server.
    pub(crate) fn next_awareness(&mut self, channel: u64, index: u32, after: u32) -> (u64, u64) {
        let last = self.index.insert((channel, 0), index).unwrap_or(0);
        let before = self.counter.insert(0, after).unwrap_or(0);
        let signed = after.wrapping_sub(before) as i32;
        let stamp = ((signed << 1) ^ (signed >> 31)) as u32;
        (index.wrapping_sub(last).wrapping_sub(1).into(), stamp.into())
    }

    pub(crate) fn next_transaction(&mut self, counter: u32) -> u64 {
        let last = self.counter.insert(0, counter).unwrap_or(0);
        counter.wrapping_sub(last).wrapping_sub(1).into()
    }

    /// Updates the numbers by a frame that changes them (W22, W23).
    pub(crate) fn pass(&mut self, frame: &Frame) {
        match frame.name {
            "POSITION" => self.position = frame.number("position"),
            "PARTICIPANTS" => {
                let left = frame.list("participants").iter().filter(|one| one.number("state") == 0);
                for id in left.map(|one| one.number("id")) {
                    self.index.retain(|(_, sender), _| *sender != id);
                    self.counter.remove(&id);
                }
            }
            _ => {}
        }
    }
}
