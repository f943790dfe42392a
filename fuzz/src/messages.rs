//! Messages such as apps send, and such as they do not. Values drift, so that few bytes of input
//! make a session that a model can learn.

use std::collections::VecDeque;

use groupwire_gmc::Message;

use crate::Input;

/// A message and its fields.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sent {
    /// As many as configured.
    pub fields: Vec<u32>,
    /// The message.
    pub bytes: Vec<u8>,
}

impl Sent {
    /// As the encoder takes it.
    pub fn message(&self) -> Message<'_> {
        Message { fields: &self.fields, bytes: &self.bytes }
    }
}

/// A writer of messages.
#[derive(Default)]
pub struct Messages {
    time: u32,
    x: i32,
    y: i32,
    past: VecDeque<Vec<u8>>,
}

/// Above this size the model leaves messages alone.
const BULK: usize = 4096;
/// How many messages are there to be varied.
const PAST_MAX: usize = 8;

impl Messages {
    /// The messages of a packet: most often one, now and then none or several.
    pub fn packet(&mut self, input: &mut Input<'_>, fields: usize) -> Vec<Sent> {
        let count = match input.byte() {
            0..=199 => 1,
            count => count % 6,
        };
        (0..count).map(|_| self.sent(input, fields)).collect()
    }

    /// One message.
    pub fn sent(&mut self, input: &mut Input<'_>, fields: usize) -> Sent {
        let kind = input.byte();
        let fields = (0..fields as u32)
            .map(|field| match kind >> 6 {
                0 => field,
                1 => field + (self.time & 3),
                2 => u32::from(input.byte()),
                _ => u32::MAX - u32::from(input.number()),
            })
            .collect();
        Sent { fields, bytes: self.bytes(kind & 63, input) }
    }

    /// A message that resembles the last one.
    pub fn pointer(&mut self, fields: usize) -> Sent {
        self.drift(3, 1);
        Sent { fields: vec![1; fields], bytes: self.json() }
    }

    fn bytes(&mut self, kind: u8, input: &mut Input<'_>) -> Vec<u8> {
        let step = input.byte() as i8;
        self.drift(i32::from(step), i32::from(kind));
        let bytes = match kind % 14 {
            0 => self.json(),
            1 => input.piece().to_vec(),
            2 => self.text_float(step),
            3 => self.xml(input.piece()),
            4 => self.message_pack(input.piece()),
            5 => self.cbor(input.piece()),
            6 => self.protocol_buffers(input.piece()),
            7 => self.record(),
            8 => input.piece().repeat(usize::from(step.unsigned_abs()) % 20),
            9 => self.bulk(input),
            _ => self.varied(input),
        };
        if bytes.len() <= BULK {
            self.past.push_front(bytes.clone());
            self.past.truncate(PAST_MAX);
        }
        bytes
    }

    fn drift(&mut self, x: i32, y: i32) {
        self.time = self.time.wrapping_add(33);
        self.x = self.x.wrapping_add(x);
        // Some numbers are much larger than the others.
        self.y = if x == -1 { self.y.wrapping_mul(1000) } else { self.y.wrapping_add(y) };
    }

    fn json(&self) -> Vec<u8> {
        let Self { time, x, y, .. } = self;
        format!(r#"{{"type":"pointer","who":"user-{}","t":{time},"x":{x},"y":{y}.0}}"#, time & 3)
            .into_bytes()
    }

    /// Numbers as apps write them that scale their coordinates.
    fn text_float(&self, step: i8) -> Vec<u8> {
        let zoom = [0.9, 0.7351, 3.0, 1e-7, 1e22][usize::from(step.unsigned_abs()) % 5];
        let (x, y) = (f64::from(self.x) / zoom + 213.5, f64::from(self.y) / zoom);
        format!(r#"{{"points":[{x},{y},{y:e},{x:.2}],"n":-0}}"#).into_bytes()
    }

    fn xml(&self, text: &[u8]) -> Vec<u8> {
        let text = String::from_utf8_lossy(text);
        let Self { time, x, .. } = self;
        format!("<event id=\"{time:05}\"><left>{x}</left><text>{text}</text></event>").into_bytes()
    }

    fn message_pack(&self, text: &[u8]) -> Vec<u8> {
        let text = &text[..text.len().min(31)];
        [
            &[0x84, 0xa1, b'x', 0xd2][..],
            &self.x.to_be_bytes(),
            &[0xa1, b'f', 0xca],
            &(self.y as f32 / 4.0).to_be_bytes(),
            &[0xa1, b'd', 0xcb],
            &(f64::from(self.x) / 0.9).to_be_bytes(),
            &[0xa1, b's', 0xa0 | text.len() as u8],
            text,
        ]
        .concat()
    }

    fn cbor(&self, text: &[u8]) -> Vec<u8> {
        let text = &text[..text.len().min(23)];
        [
            &[0xbf, 0x61, b't', 0x1a][..],
            &self.time.to_be_bytes(),
            &[0x61, b'x', if self.x < 0 { 0x39 } else { 0x19 }],
            &(self.x as u16).to_be_bytes(),
            &[0x61, b's', 0x60 | text.len() as u8],
            text,
            &[0xff],
        ]
        .concat()
    }

    fn protocol_buffers(&self, text: &[u8]) -> Vec<u8> {
        let mut out = vec![0x08];
        varint(u64::from(self.time), &mut out);
        out.push(0x10);
        varint(self.x as i64 as u64, &mut out);
        out.extend([0x1a, text.len().min(127) as u8]);
        out.extend(&text[..text.len().min(127)]);
        out.push(0x25);
        out.extend((self.y as f32).to_le_bytes());
        out
    }

    /// Numbers without any structure around them.
    fn record(&self) -> Vec<u8> {
        [
            &[7, 1][..],
            &(self.time as u16).to_le_bytes(),
            &self.x.to_le_bytes(),
            &(self.x as f32 * 0.37).to_le_bytes(),
            &(f64::from(self.y) / 3.0).to_be_bytes(),
        ]
        .concat()
    }

    /// More than the model takes, or nearly.
    fn bulk(&self, input: &mut Input<'_>) -> Vec<u8> {
        let length = BULK - 96 + usize::from(input.number()) % 8192;
        let piece = input.piece();
        let json = self.json();
        json.iter().chain(piece).copied().cycle().take(length).collect()
    }

    /// An earlier message, another in a few places.
    fn varied(&self, input: &mut Input<'_>) -> Vec<u8> {
        let place = input.place(self.past.len());
        let mut bytes = self.past.get(place).cloned().unwrap_or_default();
        let at = input.place(bytes.len() + 1);
        match input.byte() {
            0..100 => {
                let end = (at + input.piece().len()).min(bytes.len());
                bytes.drain(at..end);
            }
            100..180 => drop(bytes.splice(at..at, input.piece().iter().copied())),
            _ => {
                for (byte, new) in bytes[at..].iter_mut().zip(input.piece()) {
                    *byte = *new;
                }
            }
        }
        bytes
    }
}

fn varint(mut number: u64, out: &mut Vec<u8>) {
    while number >= 0x80 {
        out.push(number as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}
