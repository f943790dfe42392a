//! Tables of what is open, by name, that give memory back: of many thousand rooms and documents few are open, and a table keeps the places of all that
//! were open at once.

use std::collections::HashMap;

/// Tables of up to this many places are not made smaller.
const SMALL: usize = 64;

/// Removes what has this name. A table of which less than a quarter is used becomes half as large, so that each removal costs little in the mean.
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
