//! Envelopes around messages, as many protocols have them.

/// The number of envelopes.
pub(crate) const COUNT: u8 = 13;

/// Puts a message into an envelope; most have a counter. An envelope for text leaves a payload that
/// is not text as it is.
pub(crate) fn wrap(envelope: u8, count: u32, payload: &[u8]) -> Vec<u8> {
    let number = count.to_be_bytes();
    let text = std::str::from_utf8(payload);
    match (envelope, text) {
        // A client's number, its clock, and the payload after its length; all of it after another
        // length.
        (0, _) => {
            let state = [&[1, 0x85, 0x99, 0x33][..], &varint(count), &prefixed(payload)].concat();
            [&[1][..], &prefixed(&state)].concat()
        }
        (1, _) => [&(payload.len() as u32).to_be_bytes()[..], &number, payload].concat(),
        (2, _) => {
            let length = payload.len() as u32 + 6;
            [&length.to_le_bytes()[..], &[7, 0], &count.to_le_bytes(), payload].concat()
        }
        (3, _) => [&[0x32][..], &prefixed(&[&number[2..], payload].concat())].concat(),
        (4, _) => [&[3, 0][..], &number, payload].concat(),
        (5, _) => {
            let user = [&[0x0a][..], &prefixed(b"ana"), &[0x12], &prefixed(payload)].concat();
            [&[0x08, 1, 0x12][..], &prefixed(&user), &[0x20], &varint(count)].concat()
        }
        (6, _) => [&[0, 2][..], &prefixed(payload), &prefixed(payload)].concat(),
        (7, _) => format!(r#"{{"seq":{count},"data":"{}"}}"#, base64(payload)).into_bytes(),
        (8, _) => [&[0x93, 2, 0xce][..], &number, &[0xda], &length(payload), payload].concat(),
        (9, _) => [&[0x83, 2, 0x1a][..], &number, &[0x79], &length(payload), payload].concat(),
        (10, _) => [&[0, payload.len() as u8][..], payload].concat(),
        (11, Ok(text)) => format!("{}:{text},", text.len()).into_bytes(),
        (12, Ok(text)) => {
            let text = text.replace('\\', "\\\\").replace('"', "\\\"");
            format!(r#"{{"seq":{count},"data":"{text}"}}"#).into_bytes()
        }
        _ => payload.to_vec(),
    }
}

fn varint(mut number: u32) -> Vec<u8> {
    let mut bytes = Vec::new();
    while number >= 0x80 {
        bytes.push(number as u8 | 0x80);
        number >>= 7;
    }
    bytes.push(number as u8);
    bytes
}

fn prefixed(bytes: &[u8]) -> Vec<u8> {
    [&varint(bytes.len() as u32), bytes].concat()
}

fn length(bytes: &[u8]) -> [u8; 2] {
    (bytes.len() as u16).to_be_bytes()
}

fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let group = |group: &[u8]| {
        let bits = group.iter().fold(0, |bits, &byte| bits << 8 | u32::from(byte));
        let bits = bits << (8 * (3 - group.len()));
        let digit =
            move |place: usize| char::from(DIGITS[(bits >> (18 - 6 * place)) as usize & 63]);
        let digits: String = (0..=group.len()).map(digit).collect();
        format!("{digits:=<4}")
    };
    bytes.chunks(3).map(group).collect()
}
