use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use crate::error::Error;
use crate::reader::Reader;
use crate::writer;

/// The most bytes of incomplete updates, and the most pieces of them.
const MAX_BYTES: usize = 64 << 20;
const MAX_PIECES: usize = 1 << 16;

/// A piece of an update that is too large for one message of a room (`groupwire-yjs` in
/// TypeScript).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Piece {
    /// The number of the update among the large updates of its sender.
    pub series: u64,
    /// Its place among the pieces of the update.
    pub index: u64,
    /// The number of pieces of the update.
    pub count: u64,
    /// The bytes.
    pub bytes: Vec<u8>,
}

/// Joins the pieces of large updates. A sender sends the pieces of one update after the other.
///
/// ```
/// use groupwire_yjs::{Piece, Pieces};
///
/// let mut pieces = Pieces::default();
/// assert_eq!(pieces.add(7, Piece { series: 1, index: 0, count: 2, bytes: vec![1] }), None);
/// // Whoever joins in between is told of it by a snapshot, beside the document.
/// let snapshot = pieces.encode(&[0, 0]);
/// let mut late = Pieces::default();
/// assert_eq!(late.decode(&snapshot)?, [0, 0]);
/// let last = Piece { series: 1, index: 1, count: 2, bytes: vec![2] };
/// assert_eq!(late.add(7, last), Some(vec![1, 2]));
/// # Ok::<(), groupwire_yjs::Error>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct Pieces {
    begun: BTreeMap<u64, Begun>,
    bytes: usize,
    count: usize,
}

/// The update that a sender is sending.
#[derive(Debug, Clone)]
struct Begun {
    series: u64,
    count: u64,
    pieces: Vec<Vec<u8>>,
}

impl Pieces {
    /// Takes a piece. Returns the update if this is its last piece.
    pub fn add(&mut self, sender: u64, piece: Piece) -> Option<Vec<u8>> {
        let Piece { series, index, count, bytes } = piece;
        if index == 0 {
            self.forget(sender);
            self.begun.insert(sender, Begun { series, count, pieces: Vec::new() });
        }
        let begun = self.begun.get_mut(&sender)?;
        let is_next =
            (begun.series, begun.count, begun.pieces.len() as u64) == (series, count, index);
        if !is_next || self.bytes + bytes.len() > MAX_BYTES || self.count >= MAX_PIECES {
            self.forget(sender);
            return None;
        }
        self.bytes += bytes.len();
        self.count += 1;
        begun.pieces.push(bytes);
        if (begun.pieces.len() as u64) < count {
            return None;
        }
        self.forget(sender).map(|begun| begun.pieces.concat())
    }

    /// Forgets the incomplete update of a sender.
    pub fn drop(&mut self, sender: u64) {
        self.forget(sender);
    }

    fn forget(&mut self, sender: u64) -> Option<Begun> {
        let begun = self.begun.remove(&sender)?;
        self.count -= begun.pieces.len();
        self.bytes -= begun.pieces.iter().map(Vec::len).sum::<usize>();
        Some(begun)
    }

    /// The bytes of all incomplete updates.
    #[must_use]
    pub fn memory(&self) -> usize {
        self.bytes
    }

    /// A part of a room's snapshot: the incomplete updates, and a document as one update.
    #[must_use]
    pub fn encode(&self, document: &[u8]) -> Vec<u8> {
        let mut out = Vec::with_capacity(self.bytes + document.len() + 8);
        writer::number(&mut out, self.begun.len() as u64);
        for (&sender, Begun { series, count, pieces }) in &self.begun {
            for number in [sender, *series, *count, pieces.len() as u64] {
                writer::number(&mut out, number);
            }
            pieces.iter().for_each(|piece| writer::blob(&mut out, piece));
        }
        out.extend_from_slice(document);
        out
    }

    /// Replaces the incomplete updates by those in a part of a snapshot. Returns the part's
    /// document, which is not checked.
    ///
    /// # Errors
    /// The bytes are no such part.
    pub fn decode<'a>(&mut self, snapshot: &'a [u8]) -> Result<&'a [u8], Error> {
        *self = Pieces::default();
        let mut reader = Reader::new(snapshot, 0);
        for _ in 0..reader.count()? {
            let (sender, series, count) = (reader.number()?, reader.number()?, reader.number()?);
            for index in 0..reader.count()? {
                let bytes = reader.blob()?.to_vec();
                self.add(sender, Piece { series, index, count, bytes });
            }
        }
        reader.take(reader.left() as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn piece(series: u64, index: u64, count: u64) -> Piece {
        Piece { series, index, count, bytes: [index as u8].into() }
    }

    #[test]
    fn pieces_are_joined_for_each_sender_and_only_in_order() {
        let mut pieces = Pieces::default();
        assert_eq!(pieces.add(1, piece(1, 0, 1)), Some([0].into()), "the only one");
        assert_eq!(pieces.add(1, piece(2, 0, 3)), None);
        assert_eq!(pieces.add(2, piece(2, 0, 2)), None);
        assert_eq!(pieces.add(2, piece(2, 1, 2)), Some([0, 1].into()));
        assert_eq!(pieces.add(1, piece(2, 2, 3)), None, "one is missing");
        assert_eq!(pieces.add(1, piece(2, 1, 3)), None, "what was begun is forgotten");
        assert_eq!((pieces.bytes, pieces.count, pieces.begun.len()), (0, 0, 0));
        assert_eq!(pieces.add(1, piece(3, 0, 2)), None);
        pieces.drop(1);
        assert_eq!(pieces.add(1, piece(3, 1, 2)), None);
    }

    #[test]
    fn a_snapshot_has_what_is_begun_as_in_typescript() {
        let mut pieces = Pieces::default();
        pieces.add(300, piece(1, 0, 2));
        let snapshot = pieces.encode(&[0, 0]);
        assert_eq!(snapshot, [1, 0xac, 2, 1, 2, 1, 1, 0, 0, 0]);
        let mut other = Pieces::default();
        assert_eq!(other.decode(&snapshot), Ok(&[0, 0][..]));
        assert_eq!(other.encode(&[]), pieces.encode(&[]));
        for end in 0..snapshot.len() - 2 {
            assert!(other.decode(&snapshot[..end]).is_err(), "{end}");
        }
    }

    #[test]
    fn few_bytes_and_pieces_are_kept() {
        let mut pieces = Pieces::default();
        let large = |index| Piece { bytes: alloc::vec![0; 40 << 20], ..piece(1, index, 9) };
        assert_eq!((pieces.add(1, large(0)), pieces.add(1, large(1))), (None, None));
        assert_eq!(pieces.bytes, 0, "it is given up");
        for index in 0..MAX_PIECES as u64 + 1 {
            let empty = Piece { bytes: Vec::new(), ..piece(1, index, u64::MAX) };
            assert_eq!(pieces.add(1, empty), None);
        }
        assert_eq!(pieces.count, 0, "it is given up");
    }
}
