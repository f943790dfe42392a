//! The buffer for the decoded messages of one payload.

use alloc::string::ToString;
use alloc::vec::Vec;

use groupwire_gmc as gmc;

use crate::Error;

/// The most bytes that stay allocated between two payloads: one packet of the default size
/// ([`DEFAULT_MAX_PACKET`]).
///
/// [`DEFAULT_MAX_PACKET`]: crate::limits::DEFAULT_MAX_PACKET
const KEPT: usize = 64 << 10;

/// A buffer for the decoded messages of one payload. The payload's records borrow from it. All
/// connections of an end share one buffer, because the end reads one payload at a time.
#[derive(Debug, Default)]
pub(crate) struct Batch {
    /// The fields of the first message, then those of the second, and so on. All messages have
    /// equally many.
    fields: Vec<u32>,
    /// The end of each message in `bytes`.
    ends: Vec<usize>,
    bytes: Vec<u8>,
    /// The error that stopped decoding after the last message in the buffer, if there was one.
    error: Option<Error>,
}

impl Batch {
    fn begin(&mut self) {
        self.fields.clear();
        self.ends.clear();
        self.bytes.clear();
        self.error = None;
        if self.bytes.capacity() > KEPT {
            self.bytes = Vec::new();
        }
    }

    /// Decodes a gmc packet into the buffer. If decoding fails, the messages before the error stay
    /// in the buffer, and [`Batch::error`] returns the error.
    pub(crate) fn decode(&mut self, coder: &mut gmc::Decoder, payload: &[u8]) {
        self.begin();
        let Batch { fields, ends, bytes, .. } = self;
        let decoded = coder.decode_packet(payload, |message| {
            fields.extend_from_slice(message.fields);
            bytes.extend_from_slice(message.bytes);
            ends.push(bytes.len());
        });
        self.error = decoded.err().map(|error| Error::Compression { why: error.to_string() });
    }

    pub(crate) fn len(&self) -> usize {
        self.ends.len()
    }

    /// The `N` fields and the bytes of the message with the index `at`.
    pub(crate) fn message<const N: usize>(&self, at: usize) -> Option<([u32; N], &[u8])> {
        let fields = self.fields.get(at * N..(at + 1) * N)?.try_into().ok()?;
        let start = at.checked_sub(1).map_or(0, |before| self.ends[before]);
        Some((fields, &self.bytes[start..*self.ends.get(at)?]))
    }

    /// Copies the bytes of an unpacked payload into the buffer and returns the copy.
    pub(super) fn hold(&mut self, payload: &[u8]) -> &[u8] {
        self.begin();
        self.bytes.extend_from_slice(payload);
        &self.bytes
    }

    /// The error that stopped decoding. Callers report it rather than an error in one of the
    /// messages.
    pub(crate) fn error(&self) -> Option<&Error> {
        self.error.as_ref()
    }
}
