//! Any bytes as updates of a Yjs document: they are refused, or what is merged and cut off of them
//! is accepted, too, and says the same.

#![no_main]

use groupwire_yjs::{Document, StateVector, Update, diff, merge, without_deleted};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let _ = StateVector::parse(data)
        .map(|vector| assert_eq!(StateVector::parse(&vector.encode()), Ok(vector)));
    // The first byte says where the second update begins.
    let Some((&at, rest)) = data.split_first() else { return };
    let (first, second) = rest.split_at(usize::from(at).min(rest.len()));
    let updates: Vec<_> =
        [first, second, rest].iter().filter_map(|bytes| Update::parse(bytes).ok()).collect();
    let merged = merge(&updates);
    assert!(
        merged.len() <= 2 * data.len() + 64 * (updates.len() + 1),
        "{} of {}",
        merged.len(),
        data.len()
    );
    let again = Update::parse(&merged).expect("what was merged is an update");
    // Halves of a character that differing updates had cut are joined to the text around them by a
    // second merge.
    let twice = merge(&[again.clone()]);
    assert_eq!(merge(&[Update::parse(&twice).expect("an update")]), twice);
    let collected = without_deleted(&again);
    let [before, after] =
        [&merged, &collected].map(|one| Document::of([&one[..]]).expect("an update"));
    assert!(after.is_alike(&before));
    for update in &updates {
        for (client, clock) in update.state_vector().iter() {
            assert!(again.state_vector().get(client) >= clock);
        }
        let left = diff(&again, &update.state_vector());
        assert_eq!(
            Update::parse(&left).expect("what is left is an update").delete_set(),
            again.delete_set()
        );
    }
});
