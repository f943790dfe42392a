//! The forms of a packet. A coded packet was made with the model: all that both ends have learned
//! from earlier packets. A plain packet was compressed by a general-purpose codec, without the
//! model.
//!
//! ```text
//! packet = body [check]           check: one byte, only if configured
//! body   = coded | plain
//! coded  = a range coder's bytes, the first of which is 16 or more
//! plain  = 0 form bytes           form: a codec's number, 128 more if there are several messages,
//!                                 64 more if the packet is not learned
//! ```
//!
//! These are the forms on an ordered link. [`datagram`](crate::datagram) has those on other links.
//!
//! A packet with a message over [`BULK`](crate::batch::BULK) bytes is plain, and the model learns
//! nothing from it.
//!
//! The bytes of a plain packet are the messages as [`Batch::write_plain`] writes them, compressed
//! by the codec.

use alloc::vec::Vec;

use groupwire_codecs as codecs;

use crate::batch::Batch;
use crate::config::{Config, Delivery};
use crate::error::DecodeError;
use crate::range_coder::PLAIN_END;

/// The first byte of a plain packet on an ordered link.
const PLAIN: u8 = 0;
/// The bit of the form byte that is set if there are several messages.
const SEVERAL: u8 = 0x80;
/// The shortest coded packet, in bytes, for which all codecs are tried and not just the first. On a
/// shorter one no other codec gains enough to be worth the time.
const CODEC_MIN: usize = 200;

/// The header of a plain packet: what precedes the compressed bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Header {
    /// A packet of an ordered link.
    Ordered,
    /// On other links: the low byte of the packet's number, and which model learns the packet.
    Datagram(u8, Kind),
}

/// Which model learns a plain packet, if it is acknowledged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// The present model, of which a decoder has acknowledged a packet.
    Known,
    /// The first model of the stream, of which no packet is acknowledged yet.
    First,
    /// A new, empty model, which learns the packets after the one whose number has these low 16
    /// bits.
    Anew(u16),
    /// No model learns the packet.
    Unlearned,
}

/// The number of codecs that the form byte of a datagram can name. Other codecs have a byte of
/// their own after the kinds [`Kind::Anew`] and [`Kind::Unlearned`]; other kinds cannot use them.
const SHORT_CODECS: u8 = 3;
/// The smallest form byte of each of the other kinds: see [`crate::datagram`].
const FIRST: u8 = 2 * SHORT_CODECS;
const ANEW: u8 = 2 * FIRST;
const UNLEARNED: u8 = ANEW + 2;
const _: () = assert!(UNLEARNED as u32 + 2 == PLAIN_END);

impl Header {
    /// Whether a header of this kind can name the codec: some kinds have no room for large codec
    /// numbers.
    fn is_short(self, codec: u8) -> bool {
        !matches!(self, Self::Datagram(_, Kind::Known | Kind::First)) || codec < SHORT_CODECS
    }

    fn write(self, codec: u8, several: bool, out: &mut Vec<u8>) {
        let Self::Datagram(number, kind) = self else {
            let several = if several { SEVERAL } else { 0 };
            out.extend_from_slice(&[PLAIN, codec | several]);
            return;
        };
        let form = match kind {
            Kind::Known => codec * 2,
            Kind::First => FIRST + codec * 2,
            Kind::Anew(_) => ANEW,
            Kind::Unlearned => UNLEARNED,
        };
        out.extend_from_slice(&[form + u8::from(several), number]);
        if let Kind::Anew(base) = kind {
            out.extend_from_slice(&base.to_le_bytes());
        }
        if form >= ANEW {
            out.push(codec);
        }
    }

    /// Reads a header. Returns it, the codec's number, whether there are several messages, and the
    /// bytes after the header.
    fn read(body: &[u8], is_datagram: bool) -> Result<(Self, u8, bool, &[u8]), DecodeError> {
        if !is_datagram {
            return match body {
                [PLAIN, form, rest @ ..] => {
                    Ok((Self::Ordered, form & !SEVERAL, form & SEVERAL != 0, rest))
                }
                _ => Err(DecodeError::Malformed),
            };
        }
        let (kind, form, number, codec, rest) = match *body {
            [form @ 0..FIRST, number, ref rest @ ..] => (Kind::Known, form, number, form / 2, rest),
            [form @ FIRST..ANEW, number, ref rest @ ..] => {
                (Kind::First, form, number, (form - FIRST) / 2, rest)
            }
            [form @ ANEW..UNLEARNED, number, low, high, codec, ref rest @ ..] => {
                (Kind::Anew(u16::from_le_bytes([low, high])), form, number, codec, rest)
            }
            [form @ UNLEARNED..=u8::MAX, number, codec, ref rest @ ..] => {
                (Kind::Unlearned, form, number, codec, rest)
            }
            _ => return Err(DecodeError::Malformed),
        };
        Ok((Self::Datagram(number, kind), codec, form % 2 == 1, rest))
    }
}

/// Replaces the coded packet at `out[start..]` by a plain one if that is smaller. Returns whether
/// it is replaced.
pub(crate) fn make_smallest(
    header: Header,
    batch: &Batch,
    plain: &mut Vec<u8>,
    out: &mut Vec<u8>,
    start: usize,
) -> bool {
    let coded = out.len() - start;
    // If the model predicts the messages well, no codec can make the packet smaller.
    let is_hopeless = coded * 8 < batch.bytes.len();
    if batch.len() == 0 || is_hopeless {
        return false;
    }
    let codecs = codecs::encoders_for_messages();
    let candidates = if coded < CODEC_MIN { 1 } else { codecs.len() };
    let mut replaced = false;
    for codec in codecs[..candidates].iter().filter(|codec| header.is_short(codec.number())) {
        let end = out.len();
        write_plain(header, *codec, batch, plain, out);
        if out.len() - end < end - start {
            out.drain(start..end);
            replaced = true;
        } else {
            out.truncate(end);
        }
    }
    replaced
}

/// Appends a plain packet of messages that the model does not learn, because one of them is large.
pub(crate) fn make_bulk(header: Header, batch: &Batch, plain: &mut Vec<u8>, out: &mut Vec<u8>) {
    let start = out.len();
    write_plain(header, codecs::MESSAGES[0], batch, plain, out);
    make_smallest(header, batch, plain, out, start);
}

fn write_plain(
    header: Header,
    codec: &dyn codecs::Codec,
    batch: &Batch,
    plain: &mut Vec<u8>,
    out: &mut Vec<u8>,
) {
    header.write(codec.number(), batch.len() > 1, out);
    plain.clear();
    batch.write_plain(plain);
    codec.compress(plain, out);
}

/// Whether a packet is plain.
pub(crate) fn is_plain(body: &[u8]) -> bool {
    body.first().is_some_and(|&first| u32::from(first) < PLAIN_END)
}

/// Reads the messages of a plain packet.
pub(crate) fn read_plain(
    body: &[u8],
    plain: &mut Vec<u8>,
    batch: &mut Batch,
    config: &Config,
) -> Result<Header, DecodeError> {
    let (header, codec, several, bytes) = Header::read(body, config.delivery != Delivery::Ordered)?;
    let codec = codecs::for_messages(codec).ok_or(DecodeError::Malformed)?;
    // Besides the bytes of the messages there are at most five bytes for each field and for each
    // length.
    let overhead = 5 * (config.field_count() + 1);
    let messages = if several { config.max_messages_per_packet } else { 1 };
    let limit = config.max_packet.saturating_add(overhead.saturating_mul(messages));
    plain.clear();
    codec.decompress(bytes, limit, plain).map_err(|error| match error {
        codecs::CodecError::TooLarge => DecodeError::TooLarge,
        _ => DecodeError::Malformed,
    })?;
    batch.read_plain(plain, several, config)?;
    if batch.bytes.len() > config.max_packet {
        return Err(DecodeError::TooLarge);
    }
    Ok(header)
}
