//! Length-prefixed packets in a byte stream (docs/transports.md, T1).

use bytes::BytesMut;
use groupwire_session::limits::DEFAULT_MAX_PACKET;
use tokio_tungstenite::tungstenite::Bytes;

/// Most bytes of a packet. The session refuses packets above its own, lower limit with a reason;
/// this one bounds the memory that a server can make the client use.
const MAX: usize = 2 * DEFAULT_MAX_PACKET;

/// Most bytes of a length up to [`MAX`].
const MAX_PREFIX: usize = prefix_len(MAX);

/// The stream is malformed: a length is invalid or above [`MAX`].
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Malformed;

/// Bytes of the length before a packet.
pub(crate) const fn prefix_len(packet: usize) -> usize {
    match packet {
        0..0x80 => 1,
        0x80..0x4000 => 2,
        0x4000..0x20_0000 => 3,
        _ => 4,
    }
}

/// The length-prefixed form of a packet.
pub(super) fn framed(packet: &[u8]) -> Bytes {
    let mut bytes = Vec::with_capacity(prefix_len(packet.len()) + packet.len());
    let mut length = packet.len();
    while length >= 0x80 {
        bytes.push((length & 0x7f) as u8 | 0x80);
        length >>= 7;
    }
    bytes.push(length as u8);
    debug_assert_eq!(bytes.len(), prefix_len(packet.len()), "a length has its shortest form");
    bytes.extend_from_slice(packet);
    bytes.into()
}

/// Removes the first packet; `None` if it is not complete yet. After an error the stream cannot be
/// read any more.
pub(super) fn take(bytes: &mut BytesMut) -> Result<Option<Bytes>, Malformed> {
    let Some((prefix, length)) = length(bytes)? else { return Ok(None) };
    if length > MAX {
        return Err(Malformed);
    }
    debug_assert_eq!(prefix, prefix_len(length), "only the shortest form of a length is read");
    if bytes.len() < prefix + length {
        bytes.reserve(prefix + length - bytes.len());
        return Ok(None);
    }
    let mut packet = bytes.split_to(prefix + length).freeze();
    Ok(Some(packet.split_off(prefix)))
}

/// Parses the length before a packet, a varint (docs/wire, W1). Returns the size of the varint in
/// bytes and its value; `None` if it is not complete yet.
fn length(bytes: &[u8]) -> Result<Option<(usize, usize)>, Malformed> {
    let mut length = 0;
    for (at, byte) in bytes.iter().take(MAX_PREFIX).enumerate() {
        length |= usize::from(byte & 0x7f) << (7 * at);
        if byte & 0x80 == 0 {
            let padded = *byte == 0 && at > 0;
            return if padded { Err(Malformed) } else { Ok(Some((at + 1, length))) };
        }
    }
    if bytes.len() < MAX_PREFIX { Ok(None) } else { Err(Malformed) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn t1_packets_survive_any_segmentation_of_the_stream() {
        let packets = [0, 1, 127, 128, 16_383, 16_384, 65_536].map(|size| vec![7; size]);
        let stream: Vec<u8> = packets.iter().flat_map(|packet| framed(packet)).collect();
        for step in [1, 2, 3, 1000, stream.len()] {
            let mut bytes = BytesMut::new();
            let mut found = Vec::new();
            for part in stream.chunks(step) {
                bytes.extend_from_slice(part);
                while let Some(packet) = take(&mut bytes).unwrap() {
                    found.push(packet.to_vec());
                }
            }
            assert_eq!(found, packets);
            assert!(bytes.is_empty());
        }
        for packet in &packets {
            assert_eq!(framed(packet).len(), prefix_len(packet.len()) + packet.len());
        }
    }

    #[test]
    fn t1_a_malformed_or_excessive_length_is_refused_before_its_packet_arrives() {
        for bytes in [&[0x80, 0x00][..], &[0xff, 0xff, 0x7f], &[0xff; 10], &[0x81, 0x80, 0x08]] {
            assert_eq!(take(&mut bytes.into()), Err(Malformed), "{bytes:?}");
        }
        for bytes in [&[][..], &[0x80], &[0xff, 0xff], &[3, 1, 2]] {
            assert_eq!(take(&mut bytes.into()), Ok(None), "{bytes:?}");
        }
    }
}
