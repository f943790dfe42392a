//! Templates in a form that people can read, for tools that inspect a connection. A template is a
//! message type: the parts that all its messages share, and holes where they differ.

use alloc::vec::Vec;

use crate::stream::StreamModel;
use crate::template::{Hole, HoleKind, Template};
use crate::templates::Templates;

/// A template in a form that people can read.
#[non_exhaustive]
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Description {
    /// The fixed parts and holes, in order.
    pub pieces: Vec<Piece>,
    /// A lower bound of the number of messages that have fitted the template.
    pub fits: u32,
}

/// A part of a template.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Piece {
    /// Bytes that all messages of the type share.
    Fixed(Vec<u8>),
    /// A hole: a place where the messages of the type differ.
    Hole {
        /// The kind of value that fills the hole: `number`, `text`, `bytes`, `integer`, `float`,
        /// `opaque`, `string`, `value`, `length`, `message` (a message inside of this one).
        kind: &'static str,
        /// The value at this place in the message from which the template was made.
        example: Vec<u8>,
    },
}

impl StreamModel {
    pub(crate) fn describe(&self) -> Vec<Description> {
        self.templates().describe()
    }
}

impl Templates {
    fn describe(&self) -> Vec<Description> {
        let described = self
            .all()
            .map(|(id, template)| Description { pieces: template.pieces(), fits: self.fits(id) });
        described.collect()
    }
}

impl Template {
    fn pieces(&self) -> Vec<Piece> {
        let mut pieces = Vec::new();
        for index in 0..=self.holes().len() {
            let fixed = self.fixed_before(index);
            if !fixed.is_empty() {
                pieces.push(Piece::Fixed(fixed.to_vec()));
            }
            pieces.extend(self.holes().get(index).map(|hole| Piece::Hole {
                kind: hole.name(),
                example: self.example()[hole.range()].to_vec(),
            }));
        }
        pieces
    }
}

impl Hole {
    fn name(&self) -> &'static str {
        match self.kind {
            HoleKind::Number => "number",
            HoleKind::Text => "text",
            HoleKind::Bytes => "bytes",
            HoleKind::Field if self.shape.is_float() => "float",
            HoleKind::Field | HoleKind::Varint => "integer",
            HoleKind::Opaque => "opaque",
            HoleKind::String(_) => "string",
            HoleKind::Scalar(_) => "value",
            HoleKind::Length(_) => "length",
            _ => "message",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Config, Decoder, Encoder, Message};
    use alloc::format;

    #[test]
    fn a_template_is_its_fixed_parts_and_holes() {
        let mut encoder = Encoder::new(Config::default());
        for x in 0..5 {
            let message = format!(r#"{{"x":{x},"by":"ana"}}"#);
            encoder.encode(message.as_bytes(), &mut Vec::new()).unwrap();
        }
        let described = encoder.templates();
        let [template] = &described[..] else { panic!("{described:?}") };
        let hole = Piece::Hole { kind: "number", example: b"0".to_vec() };
        assert_eq!(template.pieces[..2], [Piece::Fixed(br#"{"x":"#.to_vec()), hole]);
        assert_eq!(template.fits, 4);
    }

    #[test]
    fn costs_are_the_packets_and_the_same_at_both_ends() {
        let (mut encoder, mut decoder) =
            (Encoder::new(Config::default()), Decoder::new(Config::default()));
        encoder.set_costing(true);
        decoder.set_costing(true);
        for x in 0..200_u32 {
            let text = |y| {
                format!(r#"{{"type":"pointer","user":"b81d6e04","x":{},"y":{y}}}"#, x * 7919 % 500)
            };
            let texts = [text(x), text(x + 1), text(x * 3001 % 800)];
            let messages = texts.iter().map(|text| Message { fields: &[], bytes: text.as_bytes() });
            let mut packet = Vec::new();
            encoder.encode_packet(messages, &mut packet).unwrap();
            decoder.decode_packet(&packet, |_| {}).unwrap();
            if !encoder.costs().is_empty() {
                assert_eq!(encoder.costs().len(), 3);
                assert_eq!(encoder.costs(), decoder.costs());
                let sum = encoder.costs().iter().sum::<u32>() as usize;
                assert!(sum <= packet.len() * 64 + 64, "{sum} of {}", packet.len());
                assert!(sum + 4 * 64 >= packet.len() * 64, "{sum} of {}", packet.len());
            }
            // The second message is like the first, so it costs less.
            assert!(x < 50 || encoder.costs()[1] < encoder.costs()[0]);
        }
    }
}
