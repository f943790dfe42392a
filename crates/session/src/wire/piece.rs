//! The pieces in which a transaction travels that is larger than a message may be (wire W97).

use crate::limits::{MAX_PIECES, MAX_TRANSACTION};

/// The most bytes of a piece. Smaller pieces let other messages between them; larger ones compress
/// a little better.
const MAX_PIECE: usize = 32_768;

/// Which piece of a transaction a record carries.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Piece {
    /// The whole transaction.
    #[default]
    Whole,
    First,
    Middle,
    Last,
}

impl Piece {
    /// `begins`: the piece is the first one of its transaction. `goes_on`: it is not the last one.
    pub(crate) fn new(begins: bool, goes_on: bool) -> Self {
        match (begins, goes_on) {
            (true, false) => Piece::Whole,
            (true, true) => Piece::First,
            (false, true) => Piece::Middle,
            (false, false) => Piece::Last,
        }
    }

    /// True if the piece is the first one of a transaction.
    pub(crate) fn begins(self) -> bool {
        matches!(self, Piece::Whole | Piece::First)
    }

    /// True if more of the transaction follows.
    pub(crate) fn goes_on(self) -> bool {
        matches!(self, Piece::First | Piece::Middle)
    }
}

/// The bytes of the largest transaction that can travel in pieces, where messages have at most
/// `max_message` bytes.
pub(crate) fn largest(max_message: usize) -> usize {
    MAX_TRANSACTION.min(max_message.min(MAX_PIECE).saturating_mul(MAX_PIECES / 2))
}

/// Cuts a transaction into pieces of at most `max_message` bytes; UTF-8 `text` between characters.
pub(crate) fn cut(
    bytes: &[u8],
    text: bool,
    max_message: usize,
) -> impl Iterator<Item = (Piece, &[u8])> {
    let most = if bytes.len() <= max_message { bytes.len() } else { max_message.min(MAX_PIECE) };
    let mut rest = Some(bytes);
    core::iter::from_fn(move || {
        let left = rest.take()?;
        let begins = left.len() == bytes.len();
        let mut at = left.len().min(most);
        while text && at > 1 && left.get(at).is_some_and(|byte| byte & 0xc0 == 0x80) {
            at -= 1;
        }
        let (piece, after) = left.split_at(at);
        rest = (!after.is_empty()).then_some(after);
        Some((Piece::new(begins, rest.is_some()), piece))
    })
}

#[cfg(test)]
mod tests {
    use alloc::string::String;
    use alloc::vec::Vec;

    use proptest::prelude::*;

    use super::*;

    #[test]
    fn w97_what_fits_is_one_piece() {
        for bytes in [&b""[..], b"abcd"] {
            assert_eq!(cut(bytes, false, 4).collect::<Vec<_>>(), [(Piece::Whole, bytes)]);
        }
        let pieces: Vec<_> = cut(b"abcdefghi", false, 4).collect();
        let expected: [(Piece, &[u8]); 3] =
            [(Piece::First, b"abcd"), (Piece::Middle, b"efgh"), (Piece::Last, b"i")];
        assert_eq!(pieces, expected);
    }

    proptest! {
        #[test]
        fn w97_pieces_are_as_small_as_asked_and_text_stays_text(
            text in "[a-zä€😀]{0,60}",
            max in 4_usize..20,
        ) {
            let pieces: Vec<_> = cut(text.as_bytes(), true, max).collect();
            let mut whole = String::new();
            for (at, (piece, bytes)) in pieces.iter().enumerate() {
                prop_assert!(bytes.len() <= max && (!bytes.is_empty() || text.is_empty()));
                prop_assert_eq!(piece.begins(), at == 0);
                prop_assert_eq!(piece.goes_on(), at + 1 < pieces.len());
                whole.push_str(core::str::from_utf8(bytes).unwrap());
            }
            prop_assert_eq!(whole, text);
        }
    }
}
