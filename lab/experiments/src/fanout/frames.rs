//! Parses frames of Groupwire's packets (wire W4 to W6), as far as clients need it that do not
//! decode payloads.

/// Bit 7 of a tag: the payload runs to the end of the packet.
pub(super) const LAST: u8 = 0x80;
/// The bits of a tag that are the type.
const TYPE: u8 = 0x3f;

/// A frame: its type, its payload, and all of its bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Parts<'a> {
    pub(super) kind: u8,
    pub(super) payload: &'a [u8],
    /// The whole frame, with its tag and length.
    pub(super) whole: &'a [u8],
}

/// The frames of a packet, up to the first incomplete one.
pub(super) fn frames(mut packet: &[u8]) -> impl Iterator<Item = Parts<'_>> {
    std::iter::from_fn(move || {
        let (&tag, mut rest) = packet.split_first()?;
        let payload = match tag & LAST {
            0 => {
                let length = usize::try_from(varint(&mut rest)?).ok()?;
                let (payload, behind) = rest.split_at_checked(length)?;
                rest = behind;
                payload
            }
            _ => std::mem::take(&mut rest),
        };
        let whole = &packet[..packet.len() - rest.len()];
        packet = rest;
        Some(Parts { kind: tag & TYPE, payload, whole })
    })
}

/// A frame with its length.
pub(super) fn frame(kind: u8, payload: &[u8]) -> Vec<u8> {
    let mut out = vec![kind];
    write_varint(payload.len() as u64, &mut out);
    out.extend_from_slice(payload);
    out
}

/// Splits off a varint.
pub(super) fn varint(bytes: &mut &[u8]) -> Option<u64> {
    let last = bytes.iter().take(10).position(|byte| byte & 0x80 == 0)?;
    let (digits, rest) = bytes.split_at(last + 1);
    *bytes = rest;
    Some(digits.iter().rev().fold(0, |value, byte| value << 7 | u64::from(byte & 0x7f)))
}

/// Appends a varint.
pub(super) fn write_varint(mut value: u64, out: &mut Vec<u8>) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

/// The PONG for the PING of a packet, if the packet has one before its body, at `micros` of this
/// end's clock.
pub(crate) fn pong_to(packet: &[u8], micros: u64) -> Option<Vec<u8>> {
    ping(packet).map(|time| pong(time, micros))
}

const PING: u8 = 0x0e;
const PONG: u8 = 0x0f;

/// The time in the first PING of a packet (W35), as it is encoded. A body comes last, and is not
/// searched.
fn ping(packet: &[u8]) -> Option<&[u8]> {
    let mut before_body = frames(packet).take_while(|parts| parts.whole[0] & LAST == 0);
    before_body.find(|parts| parts.kind == PING).map(|parts| parts.payload)
}

/// The PONG for a PING with this time, at `micros` of this end's clock.
fn pong(time: &[u8], micros: u64) -> Vec<u8> {
    let mut payload = time.to_vec();
    write_varint(micros, &mut payload);
    write_varint(micros, &mut payload);
    frame(PONG, &payload)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn w6_frames_are_told_apart_and_the_last_needs_no_length() {
        let packet = [&frame(0x0d, b"a")[..], &frame(0x5e, &[7; 200]), &[LAST | 6, 1, 2]].concat();
        let found: Vec<_> = frames(&packet).collect();
        let kinds: Vec<_> = found.iter().map(|parts| (parts.kind, parts.payload.len())).collect();
        assert_eq!(kinds, [(0x0d, 1), (0x1e, 200), (6, 2)]);
        assert_eq!(found.iter().flat_map(|parts| parts.whole).count(), packet.len());
        assert_eq!(frames(&packet[..100]).count(), 1);
    }

    #[test]
    fn w35_a_ping_is_found_before_a_body_and_answered() {
        assert_eq!(ping(&[0x0d, 1, 0, PING, 2, 0x85, 1, 0x86, 9, 9]), Some(&[0x85, 1][..]));
        assert_eq!(ping(&[0x86, PING, 1, 5]), None);
        assert_eq!(ping(&[PING, 3, 1]), None);
        assert_eq!(ping(&[0x0d, 0xff]), None);
        assert_eq!(ping(&[]), None);
        assert_eq!(pong(&[0x85, 1], 200), [PONG, 6, 0x85, 1, 0xc8, 1, 0xc8, 1]);
    }

    proptest! {
        #[test]
        fn numbers_are_read_as_written_and_noise_does_no_harm(value: u64, noise: Vec<u8>) {
            let mut bytes = Vec::new();
            write_varint(value, &mut bytes);
            let mut rest = &bytes[..];
            prop_assert_eq!(varint(&mut rest), Some(value));
            prop_assert!(rest.is_empty());
            prop_assert!(frames(&noise).map(|parts| parts.whole.len()).sum::<usize>() <= noise.len());
        }
    }
}
