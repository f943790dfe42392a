//! Packets: a header (Table 2 of the paper) and the messages that one template compresses. A
//! template is an earlier message; its code set is a Huffman code for the messages compressed with
//! it.

use alloc::vec::Vec;

use groupwire_codecs::{Codec, Deflate};

use super::announcement::{read_u8, take};
use super::error::DecodeError;
use super::huffman::CodeSet;

/// The paper's header of up to 16 bits, most significant first: one bit for deflate, one that says
/// whether a template was used, and 14 bits for the template.
///
/// The last of the 14 says whether the template's code set was used, so that a packet made before
/// the code set is still understood after it. Without a template the header is one byte.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Header {
    pub(super) deflate: bool,
    pub(super) template: Option<TemplateUse>,
}

/// The template of a packet, and whether the template's code set was used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct TemplateUse {
    pub(super) number: u16,
    pub(super) coded: bool,
}

const DEFLATE: u8 = 0x80;
const TEMPLATE: u8 = 0x40;

impl Header {
    pub(super) fn write(self, out: &mut Vec<u8>) {
        let deflate = if self.deflate { DEFLATE } else { 0 };
        match self.template {
            None => out.push(deflate),
            Some(TemplateUse { number, coded }) => {
                let [high, low] = (number << 1 | u16::from(coded)).to_be_bytes();
                out.extend([deflate | TEMPLATE | high, low]);
            }
        }
    }

    pub(super) fn read(packet: &mut &[u8]) -> Result<Self, DecodeError> {
        let first = read_u8(packet)?;
        let deflate = first & DEFLATE != 0;
        let high = first & !(DEFLATE | TEMPLATE);
        if first & TEMPLATE == 0 {
            return match high {
                0 => Ok(Self { deflate, template: None }),
                _ => Err(DecodeError::Malformed),
            };
        }
        let low = read_u8(packet)?;
        let number = u16::from_be_bytes([high, low]) >> 1;
        let template = TemplateUse { number, coded: low & 1 == 1 };
        if template.coded && deflate {
            return Err(DecodeError::Malformed);
        }
        Ok(Self { deflate, template: Some(template) })
    }
}

/// Writes `payload` with its header in the shortest way: as it is, with the code set, or deflated
/// if `deflate` allows that. Returns the bytes that the payload takes.
///
/// Deflate gets the payload before Huffman coding: Huffman codes, which do not end on bytes, hide
/// repetition.
pub(super) fn write(
    template: Option<(u16, Option<&CodeSet>)>,
    payload: &[u8],
    deflate: bool,
    out: &mut Vec<u8>,
) -> usize {
    let number = template.map(|(number, _)| number);
    let codes = template.and_then(|(_, codes)| codes);
    let coded = codes.map_or(payload.len(), |codes| codes.bits(payload).div_ceil(8));
    let shortest = coded.min(payload.len());
    let deflated = if deflate { deflated(payload) } else { Vec::new() };
    let deflate = deflate && deflated.len() < shortest;
    let coded = !deflate && coded < payload.len();
    let template = number.map(|number| TemplateUse { number, coded });
    Header { deflate, template }.write(out);
    let start = out.len();
    match codes {
        _ if deflate => out.extend_from_slice(&deflated),
        Some(codes) if coded => codes.encode(payload, out),
        _ => out.extend_from_slice(payload),
    }
    out.len() - start
}

/// Compresses bytes by deflate (RFC 1951).
pub(super) fn deflated(bytes: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    Deflate.compress(bytes, &mut out);
    out
}

/// Writes the length of a packet inside a packet that contains packets: 7 bits in each byte, the
/// lowest first.
pub(super) fn write_length(mut length: usize, out: &mut Vec<u8>) {
    while length >= 0x80 {
        out.push(length as u8 | 0x80);
        length >>= 7;
    }
    out.push(length as u8);
}

/// Reads the next packet inside a packet that contains packets.
pub(super) fn take_packet<'a>(bytes: &mut &'a [u8]) -> Result<&'a [u8], DecodeError> {
    let mut length = 0;
    // Four groups of 7 bits are 256 MiB: no packet is larger.
    for shift in [0, 7, 14, 21] {
        let byte = read_u8(bytes)?;
        length |= usize::from(byte & 0x7f) << shift;
        if byte < 0x80 {
            return take(bytes, length);
        }
    }
    Err(DecodeError::Malformed)
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec;
    use proptest::prelude::*;

    #[test]
    fn headers_are_those_of_table_2() {
        let written = |deflate, template: Option<(u16, bool)>| {
            let template = template.map(|(number, coded)| TemplateUse { number, coded });
            let mut out = Vec::new();
            Header { deflate, template }.write(&mut out);
            out
        };
        assert_eq!(written(false, None), [0]);
        assert_eq!(written(true, None), [0x80]);
        assert_eq!(written(false, Some((0, false))), [0x40, 0]);
        assert_eq!(written(true, Some((0x1fff, false))), [0xff, 0xfe]);
        assert_eq!(written(false, Some((3, true))), [0x40, 7]);
    }

    #[test]
    fn deflate_is_used_only_where_it_helps() {
        let mut out = Vec::new();
        assert!(write(None, &[5; 200], true, &mut out) < 20);
        let random: Vec<u8> = (0..200_u32).map(|n| ((n * n * 7919) >> 5) as u8).collect();
        assert_eq!(write(None, &random, true, &mut Vec::new()), 200);
    }

    proptest! {
        #[test]
        fn headers_come_back(first in 0_u8.., second in 0_u8..) {
            let bytes = [first, second];
            let mut rest = &bytes[..];
            if let Ok(header) = Header::read(&mut rest) {
                let mut out = Vec::new();
                header.write(&mut out);
                prop_assert_eq!(&out[..], &bytes[..2 - rest.len()]);
            }
        }

        #[test]
        fn lengths_come_back(length in 0_usize..5000) {
            let mut out = Vec::new();
            write_length(length, &mut out);
            out.extend(vec![1; length]);
            let mut rest = &out[..];
            prop_assert_eq!(take_packet(&mut rest).unwrap().len(), length);
            prop_assert!(rest.is_empty());
        }
    }
}
