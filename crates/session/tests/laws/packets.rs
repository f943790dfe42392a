//! The recorded packets: one hash for each of the first seeds, in `packets.txt`.

use std::collections::BTreeMap;
use std::sync::Mutex;

use crate::story::SEEDS;

/// The recorded hashes, and those of the sessions played now.
pub(crate) struct Recording {
    recorded: Vec<u64>,
    played: Mutex<BTreeMap<u64, u64>>,
}

impl Recording {
    pub(crate) fn open() -> Self {
        let recorded = include_str!("packets.txt").lines();
        let recorded = recorded.map(|line| u64::from_str_radix(line, 16).unwrap()).collect();
        Recording { recorded, played: Mutex::default() }
    }

    /// Notes the hash of a session's packets.
    pub(crate) fn played(&self, seed: u64, packets: u64) {
        self.played.lock().unwrap().insert(seed, packets);
    }

    /// Panics if the packets of a session differ from the recorded ones.
    pub(crate) fn judge(&self) {
        let played = self.played.lock().unwrap();
        let recorded = |seed: u64| self.recorded.get(usize::try_from(seed).ok()?.checked_sub(1)?);
        let compared = played.keys().filter(|seed| recorded(**seed).is_some()).count();
        let differs =
            |(seed, packets): &(&u64, &u64)| recorded(**seed).is_some_and(|r| r != *packets);
        let changed: Vec<u64> = played.iter().filter(differs).map(|(seed, _)| *seed).collect();
        println!("the packets of {compared} sessions were compared with the recorded ones");
        assert!(
            changed.is_empty(),
            "{} of {compared} sessions put other packets on the wire than recorded, of the seeds {changed:?}. If the change \
             is meant to alter the wire, name its rule in docs/wire and record anew: \
             RECORD=1 cargo test --release --test laws",
            changed.len()
        );
    }

    /// Replaces the recording by the sessions that were played.
    pub(crate) fn save(&self) {
        let played = self.played.lock().unwrap();
        let lines = (1..=SEEDS).map(|seed| format!("{:016x}\n", played[&seed]));
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/laws/packets.txt");
        std::fs::write(path, lines.collect::<String>()).unwrap();
    }
}
