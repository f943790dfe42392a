//! The shards of rooms: each room belongs to one, by its name, and the rooms of a shard are on one
//! server.

use sha2::{Digest, Sha256};

/// The shard of a room. It never changes, because the log of the shard has the room's records.
pub(crate) fn shard_of(room: &str, shards: u16) -> u16 {
    let hash = Sha256::digest(room.as_bytes());
    let number = u64::from_le_bytes(hash[..8].try_into().expect("a hash has 32 bytes"));
    (number % u64::from(shards.max(1))) as u16
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rooms_are_spread_and_stay_where_they_are() {
        let of: Vec<u16> = ["demo", "plan", "", "docs/ü"].map(|room| shard_of(room, 64)).into();
        assert_eq!(of, [42, 36, 35, 61]);
        let mut rooms = [0; 64];
        (0..6400).for_each(|n| rooms[usize::from(shard_of(&format!("room {n}"), 64))] += 1);
        assert!(rooms.iter().all(|rooms| (60..145).contains(rooms)), "{rooms:?}");
    }
}
