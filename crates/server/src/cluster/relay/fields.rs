//! Reads and writes the fields of frames between servers.

use std::time::Duration;

use axum::body::Bytes;
use bytes::Buf;
use groupwire_quic::Fate;
use groupwire_session::{Error, Fault, Identity, PathNeeds};

use crate::ends::framing::{put_varint, varint};

/// The bytes of a frame are none that a server of this version writes. The connection to the other
/// server is closed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("malformed frame of another server: {0}")]
pub(crate) struct Malformed(pub(super) &'static str);

/// The rest of a frame that is being read.
pub(super) struct Fields(Bytes);

impl Fields {
    pub(super) fn new(frame: Bytes) -> Self {
        Fields(frame)
    }

    pub(super) fn byte(&mut self) -> Result<u8, Malformed> {
        match self.0.has_remaining() {
            true => Ok(self.0.get_u8()),
            false => Err(Malformed("a byte is missing")),
        }
    }

    pub(super) fn number(&mut self) -> Result<u64, Malformed> {
        let Ok(Some((value, size))) = varint(&self.0) else {
            return Err(Malformed("a number is missing"));
        };
        self.0.advance(size);
        Ok(value)
    }

    fn small(&mut self) -> Result<u32, Malformed> {
        u32::try_from(self.number()?).map_err(|_| Malformed("a number is too large"))
    }

    pub(super) fn flag(&mut self) -> Result<bool, Malformed> {
        match self.byte()? {
            0 => Ok(false),
            1 => Ok(true),
            _ => Err(Malformed("a flag is neither 0 nor 1")),
        }
    }

    /// Bytes after their length.
    pub(super) fn bytes(&mut self) -> Result<Bytes, Malformed> {
        let length = usize::try_from(self.number()?).unwrap_or(usize::MAX);
        match length <= self.0.len() {
            true => Ok(self.0.split_to(length)),
            false => Err(Malformed("a field is longer than its frame")),
        }
    }

    /// Text after its length.
    pub(super) fn text(&mut self) -> Result<String, Malformed> {
        let text = String::from_utf8(self.bytes()?.into());
        text.map_err(|_| Malformed("a text is not UTF-8"))
    }

    /// All bytes that are left.
    pub(super) fn rest(&mut self) -> Bytes {
        std::mem::take(&mut self.0)
    }

    pub(super) fn end(&self) -> Result<(), Malformed> {
        match self.0.is_empty() {
            true => Ok(()),
            false => Err(Malformed("bytes after the last field")),
        }
    }

    /// The numbers of this many connections.
    pub(super) fn links(&mut self, count: u64) -> Result<Vec<u64>, Malformed> {
        // Each link takes a byte at least.
        if count > self.0.len() as u64 {
            return Err(Malformed("a list is longer than its frame"));
        }
        (0..count).map(|_| self.number()).collect()
    }

    pub(super) fn identity(&mut self) -> Result<Identity, Malformed> {
        Ok(Identity { subject: self.bytes()?.into(), rights: self.bytes()?.into() })
    }

    pub(super) fn fate(&mut self) -> Result<Fate, Malformed> {
        Ok(if self.flag()? { Fate::Sent } else { Fate::Dropped })
    }

    pub(super) fn needs(&mut self) -> Result<PathNeeds, Malformed> {
        Ok(PathNeeds { minimum_rate: self.small()?, is_limited: self.flag()? })
    }

    pub(super) fn duration(&mut self) -> Result<Duration, Malformed> {
        Ok(Duration::from_micros(self.number()?))
    }

    /// An error as the other server described it.
    pub(super) fn error(&mut self) -> Result<Error, Malformed> {
        let code = self.small()?;
        let fault = fault_of(self.byte()?).ok_or(Malformed("nobody is at fault"))?;
        let detail = String::from_utf8_lossy(&self.bytes()?).into_owned();
        Ok(Error::Remote { code, fault, detail })
    }
}

/// The parties that can be at fault, in the order of their numbers in frames.
const FAULTS: [Fault; 5] =
    [Fault::Peer, Fault::Incompatible, Fault::Limit, Fault::Refused, Fault::Own];

fn fault_of(number: u8) -> Option<Fault> {
    FAULTS.get(usize::from(number)).copied()
}

pub(super) fn put_bytes(bytes: &[u8], out: &mut Vec<u8>) {
    put_varint(bytes.len() as u64, out);
    out.extend_from_slice(bytes);
}

pub(super) fn put_links(links: &[u64], out: &mut Vec<u8>) {
    put_varint(links.len() as u64, out);
    links.iter().for_each(|&link| put_varint(link, out));
}

pub(super) fn put_identity(identity: &Identity, out: &mut Vec<u8>) {
    put_bytes(&identity.subject, out);
    put_bytes(&identity.rights, out);
}

pub(super) fn put_fate(fate: Fate, out: &mut Vec<u8>) {
    out.push(u8::from(fate == Fate::Sent));
}

pub(super) fn put_needs(needs: PathNeeds, out: &mut Vec<u8>) {
    put_varint(needs.minimum_rate.into(), out);
    out.push(needs.is_limited.into());
}

pub(super) fn put_duration(duration: Duration, out: &mut Vec<u8>) {
    put_varint(u64::try_from(duration.as_micros()).unwrap_or(u64::MAX), out);
}

pub(super) fn put_error(error: &Error, out: &mut Vec<u8>) {
    put_varint(error.code().into(), out);
    let fault = error.fault();
    out.push(FAULTS.iter().position(|&one| one == fault).unwrap_or_default() as u8);
    match error {
        // The text of an error of another server is passed on as it is.
        Error::Remote { detail, .. } => put_bytes(detail.as_bytes(), out),
        _ => put_bytes(error.to_string().as_bytes(), out),
    }
}
