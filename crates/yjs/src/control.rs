//! `web/yjs/src/control.ts` is the same for browsers.

use alloc::string::{String, ToString};
use alloc::vec::Vec;

use base64::Engine;
use base64::engine::general_purpose::STANDARD as BASE64;
use serde_json::{Value, json};

use crate::pieces::Piece;
use crate::reader::MAX_NUMBER;
use crate::state_vector::StateVector;

/// A text on a document's channel in a room. With these, participants agree who sends the content
/// that the room lacks, and send the pieces of an update that is too large for one message.
///
/// ```
/// use groupwire_yjs::Control;
///
/// assert_eq!(Control::parse(&Control::claim()), Some(Control::Claim));
/// assert_eq!(Control::parse("hello"), None);
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Control {
    /// The sender offers to send a long update that others may have, too. The first one in the
    /// room's order sends it.
    Claim,
    /// The sender of a claim has sent its update.
    Done {
        /// Whether the sender has everything that the room ever had.
        is_complete: bool,
    },
    /// The sender has only this content, and the room no longer has the rest.
    Ask(StateVector),
    /// A piece of a large update.
    Piece(Piece),
}

/// The largest text that is read: the state vector of some 50,000 clients.
const MAX_TEXT: usize = 1 << 20;

/// As base64 and with the other fields, a piece of this size fits into a message of 60,000 bytes.
const PIECE: usize = 44_000;

impl Control {
    /// Reads a text of another participant; `None` if it is malformed.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        if text.len() > MAX_TEXT {
            return None;
        }
        let fields: Vec<Value> = serde_json::from_str(text).ok()?;
        let (kind, fields) = fields.split_first()?;
        let number = |at: usize| fields.get(at)?.as_u64().filter(|&number| number <= MAX_NUMBER);
        let bytes = |at: usize| BASE64.decode(fields.get(at)?.as_str()?).ok();
        match kind.as_str()? {
            "claim" => Some(Control::Claim),
            "done" => {
                let is_complete = fields.first().and_then(Value::as_bool) == Some(true);
                Some(Control::Done { is_complete })
            }
            "ask" => StateVector::parse(&bytes(0)?).ok().map(Control::Ask),
            "piece" => Some(Control::Piece(Piece {
                series: number(0)?,
                index: number(1)?,
                count: number(2)?,
                bytes: bytes(3)?,
            })),
            _ => None,
        }
    }

    /// The text of [`Control::Claim`].
    #[must_use]
    pub fn claim() -> String {
        json!(["claim"]).to_string()
    }

    /// The text of [`Control::Done`].
    #[must_use]
    pub fn done(is_complete: bool) -> String {
        json!(["done", is_complete]).to_string()
    }

    /// The text of [`Control::Ask`].
    #[must_use]
    pub fn ask(there: &StateVector) -> String {
        json!(["ask", BASE64.encode(there.encode())]).to_string()
    }

    /// Cuts an update into texts of [`Control::Piece`]. Each of them has at most 60,000 bytes,
    /// which is the largest message of a room in memory.
    pub fn cut(update: &[u8], series: u64) -> impl Iterator<Item = String> {
        let count = update.len().div_ceil(PIECE);
        let pieces = update.chunks(PIECE).enumerate();
        pieces.map(move |(index, piece)| {
            json!(["piece", series, index, count, BASE64.encode(piece)]).to_string()
        })
    }
}

#[cfg(test)]
mod tests {
    use alloc::vec;

    use super::*;

    #[test]
    fn what_is_written_is_read() {
        assert_eq!(Control::parse(&Control::claim()), Some(Control::Claim));
        for is_complete in [false, true] {
            assert_eq!(
                Control::parse(&Control::done(is_complete)),
                Some(Control::Done { is_complete })
            );
        }
        let there = StateVector::parse(&[1, 5, 7]).unwrap();
        assert_eq!(Control::parse(&Control::ask(&there)), Some(Control::Ask(there)));
        let update: Vec<u8> = (0..100_000_u32).map(|at| at as u8).collect();
        let mut joined = Vec::new();
        for (at, text) in Control::cut(&update, 3).enumerate() {
            assert!(text.len() <= 60_000);
            let Some(Control::Piece(piece)) = Control::parse(&text) else { panic!("{at}") };
            assert_eq!((piece.series, piece.index, piece.count), (3, at as u64, 3));
            joined.extend(piece.bytes);
        }
        assert_eq!(joined, update);
    }

    #[test]
    fn the_texts_of_browsers_are_read_and_malformed_ones_are_not() {
        assert_eq!(Control::claim(), r#"["claim"]"#);
        assert_eq!(Control::done(true), r#"["done",true]"#);
        assert_eq!(Control::ask(&StateVector::default()), r#"["ask","AA=="]"#);
        let piece = Piece { series: 1, index: 0, count: 2, bytes: vec![1, 2] };
        assert_eq!(Control::parse(r#"["piece",1,0,2,"AQI="]"#), Some(Control::Piece(piece)));
        for text in [
            "",
            "[]",
            "{}",
            "[1]",
            r#"["other"]"#,
            r#"["ask"]"#,
            r#"["ask","AQ=="]"#,
            r#"["ask",7]"#,
            r#"["piece",-1,0,2,"AQI="]"#,
            r#"["piece",1,9007199254740992,2,"AQI="]"#,
            r#"["piece",1,0,2,"*"]"#,
            r#"["piece",1,0.5,2,"AQI="]"#,
            r#"["piece",1,0,2]"#,
        ] {
            assert_eq!(Control::parse(text), None, "{text}");
        }
        assert_eq!(Control::parse(&"[".repeat(2 * MAX_TEXT)), None);
        assert_eq!(Control::parse(&"[".repeat(1000)), None, "it does not recurse for ever");
    }
}
