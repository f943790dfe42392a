//! The forms of a packet.
//!
//! ```text
//! packet = body [check]           check: one byte, only if configured
//! body   = coded | plain
//! coded  = a range coder's bytes, the first of which is not zero
//! plain  = 0 form bytes           form: a codec's number, and 128 if there are several messages
//! ```
//!
//! A packet with a message over [`BULK`] bytes is plain, and the model learns nothing from it.
//!
//! The bytes of a plain packet are the messages as [`Batch::write_plain`] has them, through the
//! codec.

use alloc::vec::Vec;

use groupwire_codecs as codecs;

use crate::batch::Batch;
use crate::config::Config;
use crate::error::DecodeError;
use crate::hash::{hash, hash_bytes};

/// The first byte of a plain packet.
pub(crate) const PLAIN: u8 = 0;
/// In the form byte: several messages.
const SEVERAL: u8 = 0x80;
/// A message larger than this is no small message: there is little to learn from it, and spelling it by the model
/// costs 0.2 µs a byte, where a codec's share is a tenth of that.
pub(crate) const BULK: usize = 4096;

/// Below this size no codec gains enough on the model to be worth a try.
const CODEC_MIN: usize = 200;

/// Replaces the coded packet at `out[start..]` by a plain one if that is smaller.
pub(crate) fn make_smallest(batch: &Batch, plain: &mut Vec<u8>, out: &mut Vec<u8>, start: usize) {
    let coded = out.len() - start;
    // A packet that the model predicts well is far beyond the reach of a codec.
    if batch.len() == 0 || coded * 8 < batch.bytes.len() {
        return;
    }
    let candidates = if coded < CODEC_MIN { 1 } else { codecs::ALL.len() };
    for codec in &codecs::ALL[..candidates] {
        let end = out.len();
        write_plain(*codec, batch, plain, out);
        if out.len() - end < end - start {
            out.drain(start..end);
        } else {
            out.truncate(end);
        }
    }
}

/// Appends a plain packet of messages that the model does not touch.
pub(crate) fn make_bulk(batch: &Batch, plain: &mut Vec<u8>, out: &mut Vec<u8>) {
    let start = out.len();
    write_plain(codecs::ALL[0], batch, plain, out);
    make_smallest(batch, plain, out, start);
}

fn write_plain(codec: &dyn codecs::Codec, batch: &Batch, plain: &mut Vec<u8>, out: &mut Vec<u8>) {
    let several = if batch.len() > 1 { SEVERAL } else { 0 };
    out.extend_from_slice(&[PLAIN, codec.number() | several]);
    plain.clear();
    batch.write_plain(plain);
    codec.compress(plain, out);
}

/// Reads the messages of a plain packet.
pub(crate) fn read_plain(
    body: &[u8],
    plain: &mut Vec<u8>,
    batch: &mut Batch,
    config: &Config,
) -> Result<(), DecodeError> {
    let &[PLAIN, form, ref bytes @ ..] = body else {
        return Err(DecodeError::Malformed);
    };
    let codec = codecs::by_number(form & !SEVERAL).ok_or(DecodeError::Malformed)?;
    let several = form & SEVERAL != 0;
    // Beside the bytes of the messages there are five bytes at most for a field or a length.
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
    Ok(())
}

/// A running check over all messages of the stream.
#[derive(Default)]
pub(crate) struct Check(u32);

impl Check {
    /// The check byte after these messages.
    pub(crate) fn add(&mut self, batch: &Batch) -> u8 {
        for message in batch.iter() {
            let fields = message.fields.iter().fold(self.0, |state, &field| hash(state, field));
            self.0 = hash_bytes(hash(fields, message.bytes.len() as u32), message.bytes);
        }
        (self.0 >> 24) as u8
    }
}
