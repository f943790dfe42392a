//! Length-prefixed packets in a byte stream (docs/transports.md, T1).

use axum::body::Bytes;
use bytes::{Buf, BytesMut};
use groupwire_session::Error;
use tokio::io::{AsyncRead, AsyncReadExt};

/// Bytes read at a time; most packets are smaller.
const READ: usize = 4 << 10;

/// Reads length-prefixed packets from a byte stream.
pub(crate) struct Framed<R> {
    reader: R,
    bytes: BytesMut,
    max: usize,
    is_finished: bool,
}

impl<R: AsyncRead + Unpin> Framed<R> {
    /// Reads packets of at most `max` bytes.
    pub(crate) fn new(reader: R, max: usize) -> Self {
        Framed { reader, bytes: BytesMut::new(), max, is_finished: false }
    }

    /// The next packet; `None` at the end of the stream. The future may be dropped without losing
    /// bytes.
    pub(crate) async fn next(&mut self) -> Result<Option<Bytes>, Error> {
        loop {
            if let Some(packet) = take(&mut self.bytes, self.max)? {
                return Ok(Some(packet));
            }
            self.bytes.reserve(READ);
            let read = self.reader.read_buf(&mut self.bytes).await;
            if !matches!(read, Ok(1..)) {
                self.is_finished = read.is_ok();
                return Ok(None);
            }
        }
    }

    /// After the last packet: true if the other end has finished the stream, false if it broke.
    pub(crate) fn is_finished(&self) -> bool {
        self.is_finished
    }
}

/// Appends a length-prefixed packet.
pub(crate) fn put(packet: &[u8], out: &mut Vec<u8>) {
    put_varint(packet.len() as u64, out);
    out.extend_from_slice(packet);
}

/// The length-prefixed form of a packet.
pub(crate) fn framed(packet: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(MAX_VARINT + packet.len());
    put(packet, &mut bytes);
    bytes
}

/// Most bytes of a varint, an integer of variable length (docs/wire, W1).
pub(crate) const MAX_VARINT: usize = 10;

/// Appends a varint (W1).
pub(crate) fn put_varint(mut value: u64, out: &mut Vec<u8>) {
    while value >= 0x80 {
        out.push((value & 0x7f) as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

/// Removes the first packet; `None` if it is not complete yet.
pub(crate) fn take(bytes: &mut BytesMut, max: usize) -> Result<Option<Bytes>, Error> {
    let Some((prefix, length)) = measure(bytes, max)? else { return Ok(None) };
    bytes.advance(prefix);
    Ok(Some(bytes.split_to(length).freeze()))
}

/// Sizes of the first packet's length prefix and of the packet itself; `None` if the packet is not
/// complete yet.
pub(crate) fn measure(bytes: &[u8], max: usize) -> Result<Option<(usize, usize)>, Error> {
    let Some((length, prefix)) = varint(bytes)? else { return Ok(None) };
    let length = usize::try_from(length).unwrap_or(usize::MAX);
    if length > max {
        return Err(Error::TooLarge { what: "packet", size: length, limit: max });
    }
    Ok((bytes.len() - prefix >= length).then_some((prefix, length)))
}

/// Reads a varint (W1): its value and its size in bytes; `None` if it is not complete yet.
pub(crate) fn varint(bytes: &[u8]) -> Result<Option<(u64, usize)>, Error> {
    let mut value = 0;
    for (at, &byte) in bytes.iter().take(MAX_VARINT).enumerate() {
        let bits = u64::from(byte & 0x7f);
        if at == MAX_VARINT - 1 && byte > 1 {
            return Err(MALFORMED);
        }
        value |= bits << (7 * at);
        if byte & 0x80 == 0 {
            return match byte == 0 && at > 0 {
                true => Err(MALFORMED),
                false => Ok(Some((value, at + 1))),
            };
        }
    }
    Ok(None)
}

const MALFORMED: Error = Error::Malformed { what: "number before a packet" };

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn varints_round_trip(value: u64) {
            let mut bytes = Vec::new();
            put_varint(value, &mut bytes);
            prop_assert_eq!(varint(&bytes), Ok(Some((value, bytes.len()))));
            prop_assert_eq!(varint(&bytes[..bytes.len() - 1]), Ok(None));
        }

        #[test]
        fn packets_survive_any_segmentation_of_the_stream(
            packets in proptest::collection::vec(proptest::collection::vec(any::<u8>(), 0..300), 0..10),
            cut in 1..50usize,
        ) {
            let mut bytes = Vec::new();
            packets.iter().for_each(|packet| put(packet, &mut bytes));
            let (mut buffer, mut read) = (BytesMut::new(), Vec::new());
            for piece in bytes.chunks(cut) {
                buffer.extend_from_slice(piece);
                while let Some(packet) = take(&mut buffer, 300).unwrap() {
                    read.push(packet.to_vec());
                }
            }
            prop_assert_eq!(read, packets);
            prop_assert!(buffer.is_empty());
        }

        #[test]
        fn random_bytes_never_panic(bytes: Vec<u8>) {
            let mut bytes = BytesMut::from(&bytes[..]);
            while let Ok(Some(_)) = take(&mut bytes, 64) {}
        }
    }

    #[test]
    fn a_varint_longer_than_necessary_is_refused() {
        assert_eq!(varint(&[0x80, 0]), Err(MALFORMED));
        assert_eq!(varint(&[0xff; 11]), Err(MALFORMED));
        let mut long = BytesMut::from(&[0xff, 0xff, 0x7f][..]);
        assert!(matches!(take(&mut long, 65_536), Err(Error::TooLarge { size: 2_097_151, .. })));
    }
}
