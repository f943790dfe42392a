//! Generated messages, from a seed.

use super::random::Random;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Binary records of a telecom node: identifiers, counters, addresses, padding.
    Telecom,
    /// JSON as a whiteboard sends it.
    Json,
    /// Incompressible bytes.
    Random,
}

impl Kind {
    pub(crate) const ALL: [Kind; 3] = [Kind::Telecom, Kind::Json, Kind::Random];

    pub(crate) fn message(self, size: usize, random: &mut Random) -> Vec<u8> {
        let mut message = Vec::with_capacity(size + 100);
        while message.len() < size {
            match self {
                Kind::Telecom => record(&mut message, random),
                Kind::Json => object(&mut message, random),
                Kind::Random => message.extend(random.next().to_le_bytes()),
            }
        }
        message.truncate(size);
        message
    }
}

fn record(message: &mut Vec<u8>, random: &mut Random) {
    let nth = message.len() as u16;
    message.extend([0x83, 0x1c, 0, random.below(6) as u8]);
    message.extend((0x4100 + nth).to_be_bytes());
    message.extend([10, 44, random.below(4) as u8, random.below(200) as u8]);
    message.extend((random.below(5000) as u32).to_be_bytes());
    message.extend([0, 0, 0, 0, 0xff, 0xff]);
    message.extend((random.below(1 << 20) as u32).to_be_bytes());
    message.extend([0; 6]);
    message.extend((random.next() as u16).to_be_bytes());
}

fn object(message: &mut Vec<u8>, random: &mut Random) {
    let color = ["black", "tomato", "steelblue", "seagreen"][random.below(4) as usize];
    let (id, x, y) = (random.below(100_000), random.below(1920), random.below(1080));
    let text = format!(
        r#"{{"id":"s{id}","kind":"stroke","color":"{color}","width":2,"points":[[{x},{y}],[{},{}]]}},"#,
        x + 3,
        y + random.below(9)
    );
    message.extend(text.as_bytes());
}
