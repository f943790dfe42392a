//! Which parts of snapshots and which records are kept.
//!
//! Of the parts of one name three are kept at most: the newest one; the newest of those that are
//! older than the time of history, the *base*; and the oldest of the younger ones, which becomes
//! the base in its turn. A record is trimmed once a base covers it. So the snapshot before and the
//! log behind it are there for at least the time of history, a room can be taken back to any moment
//! in it, and if the newest part is damaged, nothing is lost.

use crate::index::Entry;
use crate::room::Room;
use crate::rows::PartRow;

/// The records and parts that a room no longer needs.
#[derive(Debug, Default)]
pub(crate) struct Surplus {
    pub(crate) entries: Vec<Entry>,
    pub(crate) parts: Vec<PartRow>,
}

/// The parts that the room no longer needs at `now`. `history` and `now` are in milliseconds.
pub(crate) fn surplus_parts(room: &Room, now: u64, history: u64) -> Vec<i64> {
    let parts = room.parts();
    let is_old = |part: &PartRow| now.saturating_sub(part.taken) >= history;
    let kept = |part: &PartRow| {
        let same = || parts.iter().filter(|other| other.name == part.name);
        let newest = same().next_back();
        let base = same().rfind(|other| is_old(other));
        let next_base = same().find(|other| !is_old(other));
        [newest, base, next_base].into_iter().flatten().any(|kept| kept.id == part.id)
    };
    parts.iter().filter(|part| !kept(part)).map(|part| part.id).collect()
}

/// Removes the records and parts from the room's index that it no longer needs at `now`.
pub(crate) fn trim(room: &mut Room, now: u64, history: u64) -> Surplus {
    let surplus = surplus_parts(room, now, history);
    let parts = room.remove_parts(|part| !surplus.contains(&part.id));
    let bases: Vec<PartRow> = room
        .parts()
        .iter()
        .filter(|part| now.saturating_sub(part.taken) >= history)
        .cloned()
        .collect();
    if bases.is_empty() {
        return Surplus { entries: Vec::new(), parts };
    }
    let entries = room.remove_entries(|entry| {
        !bases.iter().any(|base| base.covers(entry.channel, entry.position))
    });
    Surplus { entries, parts }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DAY: u64 = 86_400_000;

    fn part(id: i64, taken: u64, as_of: u64) -> PartRow {
        PartRow { id, room: 1, name: "state".into(), channels: [1].into(), as_of, taken, size: 10 }
    }

    fn room() -> Room {
        let mut room = Room::new(1, 7, "a");
        for position in 1..=40 {
            let channel = if position % 10 == 0 { 2 } else { 1 };
            room.push(Entry { row: position as i64, position, channel, size: 5 }, 0);
        }
        room
    }

    fn positions(room: &Room) -> Vec<u64> {
        room.entries.iter().map(|entry| entry.position).collect()
    }

    #[test]
    fn nothing_is_trimmed_within_the_time_of_history() {
        let mut room = room();
        room.push_part(part(1, 0, 20));
        let surplus = trim(&mut room, DAY - 1, DAY);
        assert!(surplus.entries.is_empty() && surplus.parts.is_empty());
    }

    #[test]
    fn what_an_old_part_covers_is_trimmed_and_other_channels_are_not() {
        let mut room = room();
        room.push_part(part(1, 0, 20));
        room.push_part(part(2, DAY / 2, 30));
        let before = room.bytes;
        let surplus = trim(&mut room, DAY, DAY);
        assert_eq!(surplus.entries.len(), 18);
        assert_eq!(positions(&room)[..4], [10, 20, 21, 22]);
        assert_eq!(before - room.bytes, surplus.entries.iter().map(Entry::cost).sum::<u64>());
    }

    #[test]
    fn three_parts_are_kept_however_often_snapshots_are_stored() {
        let mut room = room();
        for hour in 0..100 {
            let now = hour * DAY / 24;
            room.push_part(part(hour as i64, now, 1 + hour / 4));
            trim(&mut room, now, DAY);
            assert!(room.parts().len() <= 3);
            let newest = room.parts().last().expect("the newest part stays");
            assert_eq!(newest.id, hour as i64);
            if now >= DAY {
                let base = &room.parts()[0];
                let age = now - base.taken;
                assert!((DAY..=2 * DAY).contains(&age), "the base is {age} ms old");
                // The log behind the base is there.
                assert!((base.as_of + 1..=40).all(|p| positions(&room).contains(&p)));
            }
        }
    }

    #[test]
    fn a_clock_that_was_set_back_trims_nothing() {
        let mut room = room();
        room.push_part(part(1, 10 * DAY, 20));
        assert!(trim(&mut room, DAY, DAY).entries.is_empty());
    }
}
