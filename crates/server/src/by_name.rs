//! Removes entries from tables of open rooms and documents, and gives memory back: without it a table keeps the capacity for as
//! many as were ever open at once.

use std::collections::HashMap;

/// Tables of up to this capacity are not shrunk.
const SMALL: usize = 64;

/// Removes the entry `name`. A table of which less than a quarter is used is shrunk to half, so that removals are cheap on average.
pub(crate) fn remove<T>(table: &mut HashMap<String, T>, name: &str) {
    table.remove(name);
    let places = table.capacity();
    if places > SMALL && table.len() < places / 4 {
        table.shrink_to(places / 2);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_many_have_left_is_small() {
        let mut table: HashMap<String, ()> =
            (0..10_000).map(|index| (format!("document {index}"), ())).collect();
        let most = table.capacity();
        for index in 0..9_990 {
            remove(&mut table, &format!("document {index}"));
            assert!(table.capacity() <= (table.len() * 8).max(2 * SMALL), "{}", table.len());
        }
        assert!(most >= 10_000 && table.len() == 10);
        assert!((9_990..10_000).all(|index| table.contains_key(&format!("document {index}"))));
    }
}
