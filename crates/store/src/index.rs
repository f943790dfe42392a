//! The index of a room's records in the log: row, position, channel and size of each, in some six
//! bytes.

use smallvec::SmallVec;

use crate::api::{OVERHEAD, Record};

/// The row of a record, and the fields that decide whether it is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Entry {
    /// The id of the row in `log`.
    pub(crate) row: i64,
    pub(crate) position: u64,
    pub(crate) channel: u32,
    /// The bytes of the content.
    pub(crate) size: u32,
}

impl Entry {
    pub(crate) fn of(row: i64, record: &Record) -> Self {
        let (position, channel) = (record.position, record.channel);
        Entry { row, position, channel, size: record.bytes.len() as u32 }
    }

    /// The bytes that the record counts for in quotas.
    pub(crate) fn cost(&self) -> u64 {
        u64::from(self.size) + OVERHEAD
    }
}

/// Entries in the order of positions, each coded as differences to the one before.
#[derive(Debug, Clone, Default)]
pub(crate) struct Entries {
    /// The codes of few records fit inline, without an allocation.
    coded: SmallVec<[u8; 16]>,
    last_row: i64,
    last_position: u64,
}

impl Entries {
    pub(crate) fn len(&self) -> usize {
        self.iter().count()
    }

    /// Appends an entry. Its position may be smaller than the last one only until
    /// [`Entries::sort`].
    pub(crate) fn push(&mut self, entry: Entry) {
        write(&mut self.coded, zigzag(entry.row.wrapping_sub(self.last_row)));
        write(
            &mut self.coded,
            zigzag(entry.position.wrapping_sub(self.last_position).cast_signed()),
        );
        write(&mut self.coded, u64::from(entry.channel));
        write(&mut self.coded, u64::from(entry.size));
        self.last_row = entry.row;
        self.last_position = entry.position;
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = Entry> + '_ {
        let mut coded = self.coded.as_slice();
        let (mut row, mut position) = (0_i64, 0_u64);
        std::iter::from_fn(move || {
            if coded.is_empty() {
                return None;
            }
            row = row.wrapping_add(unzigzag(read(&mut coded)));
            position = position.wrapping_add(unzigzag(read(&mut coded)).cast_unsigned());
            let (channel, size) = (read(&mut coded) as u32, read(&mut coded) as u32);
            Some(Entry { row, position, channel, size })
        })
    }

    /// Puts the entries in the order of positions, which the log's rows do not have once laggards
    /// were moved. If two entries have the same position, because the server ended between copying
    /// and erasing, the older row is removed and returned.
    pub(crate) fn sort(&mut self) -> Vec<Entry> {
        let mut copied = Vec::new();
        if !self.iter().is_sorted_by(|a, b| a.position < b.position) {
            let mut entries: Vec<_> = self.iter().collect();
            entries.sort_by_key(|entry| (entry.position, std::cmp::Reverse(entry.row)));
            entries.dedup_by(|later, kept| {
                let is_copy = later.position == kept.position;
                if is_copy {
                    copied.push(*later);
                }
                is_copy
            });
            *self = entries.into_iter().collect();
        }
        self.coded.shrink_to_fit();
        copied
    }

    /// Replaces the row of each entry for which `moved` has a new row.
    pub(crate) fn move_rows(&mut self, moved: impl Fn(i64) -> Option<i64>) {
        *self = self
            .iter()
            .map(|entry| Entry { row: moved(entry.row).unwrap_or(entry.row), ..entry })
            .collect();
    }
}

impl FromIterator<Entry> for Entries {
    fn from_iter<T: IntoIterator<Item = Entry>>(entries: T) -> Self {
        let mut all = Self::default();
        entries.into_iter().for_each(|entry| all.push(entry));
        all.coded.shrink_to_fit();
        all
    }
}

fn zigzag(value: i64) -> u64 {
    (value.cast_unsigned() << 1) ^ (value >> 63).cast_unsigned()
}

fn unzigzag(value: u64) -> i64 {
    (value >> 1).cast_signed() ^ -(value & 1).cast_signed()
}

// Seven bits in a byte, the lowest first; the top bit says that more follow.
fn write(out: &mut SmallVec<[u8; 16]>, mut value: u64) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

fn read(from: &mut &[u8]) -> u64 {
    let mut value = 0;
    for shift in (0..64).step_by(7) {
        let (&byte, rest) =
            from.split_first().expect("only `push` writes entries, and it writes them whole");
        *from = rest;
        value |= u64::from(byte & 0x7f) << shift;
        if byte < 0x80 {
            break;
        }
    }
    value
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn entry() -> impl Strategy<Value = Entry> {
        (any::<i64>(), any::<u64>(), any::<u32>(), any::<u32>())
            .prop_map(|(row, position, channel, size)| Entry { row, position, channel, size })
    }

    proptest! {
        #[test]
        fn entries_are_read_as_they_were_pushed(entries in prop::collection::vec(entry(), 0..50)) {
            let coded: Entries = entries.iter().copied().collect();
            prop_assert_eq!(coded.iter().collect::<Vec<_>>(), entries.clone());
            prop_assert_eq!(coded.len(), entries.len());
        }
    }

    #[test]
    fn sorting_orders_by_position() {
        let at = |row, position| Entry { row, position, channel: 1, size: 10 };
        let mut entries: Entries = [at(1, 2), at(2, 3), at(9, 1), at(10, 2)].into_iter().collect();
        assert_eq!(entries.sort(), [at(1, 2)]);
        assert_eq!(entries.iter().map(|e| e.position).collect::<Vec<_>>(), [1, 2, 3]);
        assert_eq!(entries.iter().map(|e| e.row).collect::<Vec<_>>(), [9, 10, 2]);
    }

    #[test]
    fn a_record_of_a_busy_server_takes_six_bytes() {
        // Fifty rooms take turns in the log.
        let entries: Entries = (1..=1000)
            .map(|n| Entry { row: n * 50, position: n as u64, channel: 3, size: 150 })
            .collect();
        assert!(entries.coded.len() <= 6 * 1000);
    }
}
