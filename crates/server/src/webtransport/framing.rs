//! Packets on a stream of octets (T1): a length, and that many octets.

use std::io;

use axum::body::Bytes;
use bytes::BytesMut;
use groupwire_session::Error;
use tokio::io::{AsyncRead, AsyncReadExt};

/// Octets asked for at a time.
const READ: usize = 4 << 10;

/// Reads packets.
pub(crate) struct Framed<R> {
    reader: R,
    octets: BytesMut,
    max: usize,
}

impl<R: AsyncRead + Unpin> Framed<R> {
    pub(crate) fn new(reader: R, max: usize) -> Self {
        Framed { reader, octets: BytesMut::new(), max }
    }

    /// The next packet. `None`: the stream is over. Losing the future loses nothing.
    pub(crate) async fn next(&mut self) -> Result<Option<Bytes>, Error> {
        loop {
            if let Some(packet) = take(&mut self.octets, self.max)? {
                return Ok(Some(packet));
            }
            self.octets.reserve(READ);
            let read: io::Result<usize> = self.reader.read_buf(&mut self.octets).await;
            if !matches!(read, Ok(1..)) {
                return Ok(None);
            }
        }
    }
}

/// The packet with its length before it.
pub(crate) fn framed(packet: &[u8]) -> Vec<u8> {
    let mut octets = Vec::with_capacity(10 + packet.len());
    let mut length = packet.len();
    while length >= 0x80 {
        octets.push((length & 0x7f) as u8 | 0x80);
        length >>= 7;
    }
    octets.push(length as u8);
    octets.extend_from_slice(packet);
    octets
}

fn take(octets: &mut BytesMut, max: usize) -> Result<Option<Bytes>, Error> {
    const MALFORMED: Error = Error::Malformed { what: "length of a packet" };
    let mut length = 0;
    let mut prefix = None;
    for (at, octet) in octets.iter().take(4).enumerate() {
        length |= usize::from(octet & 0x7f) << (7 * at);
        if octet & 0x80 == 0 {
            if *octet == 0 && at > 0 {
                return Err(MALFORMED);
            }
            prefix = Some(at + 1);
            break;
        }
    }
    let Some(prefix) = prefix else {
        return if octets.len() < 4 { Ok(None) } else { Err(MALFORMED) };
    };
    if length > max {
        return Err(Error::TooLarge { what: "packet", size: length, limit: max });
    }
    if octets.len() < prefix + length {
        return Ok(None);
    }
    let mut packet = octets.split_to(prefix + length).freeze();
    Ok(Some(packet.split_off(prefix)))
}
