//! Table 1: a message as text, and in the fewest bits.

use super::row::row;
use crate::options::Common;
use crate::{Row, hand};

/// A field of the message that drags an object (the paper's Figure 3).
struct Field {
    name: &'static str,
    range: &'static str,
    /// The text of the field. That of the message type is in two pieces.
    text: &'static [&'static str],
    bits: u32,
}

/// The fields in the order of the table. The numbers are ours, of as many digits as the paper's.
const FIELDS: [Field; 5] = {
    let [kind, sender, object, coordinate] = hand::TABLE_1;
    [
        Field { name: "message type", range: "0..31", text: &["(moveObject", ")"], bits: kind },
        Field {
            name: "sender",
            range: "0..63",
            text: &["(sender_id: 7 session_id: 9357)"],
            bits: sender,
        },
        Field { name: "object", range: "0..1023", text: &[" object_id: 912"], bits: object },
        Field { name: "x", range: "0..2047", text: &[" x: 138.0"], bits: coordinate },
        Field { name: "y", range: "0..2047", text: &[" y: 601.0"], bits: coordinate },
    ]
};

/// The rows of Table 1: one for each field, for the padding and for the whole message.
pub(super) fn rows(common: &Common) -> Vec<Row> {
    let row = |field, text_bytes: Option<usize>, bits: u32| {
        row("table-1", "none", common)
            .with("field", field)
            .with("text_bytes", text_bytes)
            .with("minimal_bits", bits)
    };
    let bytes = |field: &Field| field.text.iter().map(|text| text.len()).sum::<usize>();
    let bits: u32 = FIELDS.iter().map(|field| field.bits).sum();
    let whole = bits.next_multiple_of(8);
    let fields = FIELDS
        .iter()
        .map(|field| row(field.name, Some(bytes(field)), field.bits).with("range", field.range));
    let padding = row("padding", None, whole - bits);
    let total = row("total", Some(FIELDS.iter().map(bytes).sum()), whole);
    fields.chain([padding, total]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::drawing::{Event, Format, Kind, Point, encode};

    #[test]
    fn the_message_is_one_of_the_session_without_its_time() {
        let kind = Kind::Move { object: 912, to: Point { x: 138, y: 601 } };
        let event = Event { time_ms: 716_626_384, sender: 7, kind };
        let message = String::from_utf8(encode(Format::Text, &[event]).remove(0)).unwrap();
        let message = message.replace("timestamp: 716626384 ", "");
        let [kind, rest @ ..] = FIELDS.map(|field| field.text);
        // The sender stands before the type, and the type's last piece ends the message.
        let text = [rest[0][0], kind[0], rest[1][0], rest[2][0], rest[3][0], kind[1]].concat();
        assert_eq!(message, text);
    }

    #[test]
    fn sizes_are_the_papers() {
        let rows = rows(&Common::default());
        let text: Vec<_> = rows.iter().map(|row| row.number("text_bytes")).collect();
        let expected = [Some(12.0), Some(31.0), Some(15.0), Some(9.0), Some(9.0), None, Some(76.0)];
        assert_eq!(text, expected);
        let bits: Vec<_> = rows.iter().filter_map(|row| row.number("minimal_bits")).collect();
        assert_eq!(bits, [5.0, 6.0, 10.0, 11.0, 11.0, 5.0, 48.0]);
    }
}
