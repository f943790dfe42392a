//! Remembers at which places two messages may both have a string that follows its length. The
//! search for strings looks at the same places again for each difference nearby, and most places
//! hold no such length.

use crate::binary::prefix::Prefix;

/// The shortest string, in bytes, that proves that the bytes before it are its length.
const STRING_MIN: usize = 3;

/// The number of places that are remembered. It is more than the search for a string goes back.
const PLACES: usize = 128;

/// See the [module](self).
pub(super) struct Lengths<'a> {
    message: &'a [u8],
    example: &'a [u8],
    /// The difference between a place in the message and the same place in the example; wraps.
    offset: usize,
    /// Whether strings of two lengths can be the same field.
    may_vary: bool,
    /// For a place `at` in the example, at index `at % PLACES`: `at`, and the formats of a length
    /// that are possible there.
    places: [(usize, u8); PLACES],
}

/// Marks an unused entry: no example has such a place.
const NOWHERE: usize = usize::MAX;

impl<'a> Lengths<'a> {
    pub(super) fn new(message: &'a [u8]) -> Self {
        let places = [(NOWHERE, 0); PLACES];
        Lengths { message, example: &[], offset: 0, may_vary: false, places }
    }

    /// Compares with this example from now on.
    pub(super) fn compare_with(&mut self, example: &'a [u8], offset: usize, may_vary: bool) {
        // All examples for one message are the beginning of the same example, so their length
        // identifies them.
        let is_known = self.example.len() == example.len()
            && self.offset == offset
            && self.may_vary == may_vary;
        if !is_known {
            (self.example, self.offset, self.may_vary) = (example, offset, may_vary);
            self.places.fill((NOWHERE, 0));
        }
    }

    /// The formats in which both messages have a length at place `at` of the example, with strings
    /// that can be values of one field. Bit n stands for the n-th format of [`Prefix::ALL`].
    pub(super) fn at(&mut self, at: usize) -> u8 {
        let place = self.places[at % PLACES];
        if place.0 == at {
            return place.1;
        }
        let mut possible = 0;
        for (index, prefix) in Prefix::ALL.into_iter().enumerate() {
            let known = prefix.string(self.example, at);
            let given = prefix.string(self.message, at.wrapping_add(self.offset));
            if let (Some(known), Some(given)) = (known, given) {
                let is_possible = (self.may_vary || known.len() == given.len())
                    && known.len().max(given.len()) >= STRING_MIN;
                possible |= u8::from(is_possible) << index;
            }
        }
        self.places[at % PLACES] = (at, possible);
        possible
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn what_is_remembered_is_what_a_new_search_finds(
            example in prop::collection::vec(0_u8..40, 1..300),
            message in prop::collection::vec(0_u8..40, 1..300),
            asked in prop::collection::vec((0_usize..300, 0_usize..4, 1_usize..300), 1..200),
        ) {
            let mut lengths = Lengths::new(&message);
            for (at, offset, end) in asked {
                let example = &example[..end.min(example.len())];
                lengths.compare_with(example, offset, offset != 0);
                let mut anew = Lengths::new(&message);
                anew.compare_with(example, offset, offset != 0);
                prop_assert_eq!(lengths.at(at), anew.at(at));
            }
        }
    }
}
