//! The content of the datagrams of fan-out groups (wire W70): each is decoded once for all
//! followers, who compare what comes to them with what was decoded, byte by byte.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use groupwire_gmc::{Config, Decoder, Delivery};

use super::ledger::Ledger;
use super::message::{Name, find};

/// The number of fields of each message (W70).
const FIELDS: usize = 6;

/// W74: bytes that a decoder may use to read lost packets that are sent again.
const FOR_LATE_ONES: usize = 256 << 10;

/// Bodies and acknowledgements that are kept of each group: those of some seconds at least, at any
/// tick.
const KEPT: usize = 4096;

/// The groups of a room, as far as followers received their models.
#[derive(Default)]
pub(super) struct Reference {
    groups: HashMap<u32, Group>,
    /// The entries, by the bytes of the model.
    entries: HashMap<Vec<u8>, Arc<Entry>>,
}

struct Group {
    decoder: Decoder,
    bodies: HashMap<Vec<u8>, Arc<Body>>,
    /// Older bodies, which are dropped once there are as many new ones.
    older: HashMap<Vec<u8>, Arc<Body>>,
    /// gmc's acknowledgements, by the packet up to which none is missing.
    acknowledgements: BTreeMap<u32, Arc<[u8]>>,
}

/// The decoder's position after a model.
pub(super) struct Entry {
    /// The newest packet that the model includes.
    pub(super) newest: u32,
    /// gmc's acknowledgement of the model.
    pub(super) acknowledgement: Arc<[u8]>,
}

/// The content of a body.
pub(super) struct Body {
    /// gmc's number of the packet.
    pub(super) number: u32,
    /// The names of intact messages.
    pub(super) names: Vec<Name>,
    /// The number of other messages.
    pub(super) altered: u64,
}

impl Reference {
    /// A follower has received the whole model of a group.
    pub(super) fn enter(&mut self, group: u32, model: &[u8]) -> Result<Arc<Entry>, String> {
        if let Some(entry) = self.entries.get(model) {
            return Ok(Arc::clone(entry));
        }
        let decoder = decoder(model)?;
        let (entry, decoder) = entry(decoder);
        let entry = Arc::new(entry);
        self.entries.insert(model.to_vec(), Arc::clone(&entry));
        self.groups.entry(group).or_insert_with(|| Group {
            decoder,
            bodies: HashMap::new(),
            older: HashMap::new(),
            acknowledgements: BTreeMap::new(),
        });
        Ok(entry)
    }

    /// The content of a group's body. `None`: the body comes too late or too early to be decoded.
    pub(super) fn read(&mut self, ledger: &Ledger, group: u32, bytes: &[u8]) -> Option<Arc<Body>> {
        let group = self.groups.get_mut(&group)?;
        let known = group.bodies.get(bytes).or_else(|| group.older.get(bytes));
        if let Some(body) = known {
            return Some(Arc::clone(body));
        }
        let body = Arc::new(group.decode(ledger, bytes)?);
        if group.bodies.len() >= KEPT {
            group.older = std::mem::take(&mut group.bodies);
        }
        group.bodies.insert(bytes.to_vec(), Arc::clone(&body));
        Some(body)
    }

    /// The acknowledgement for a receiver that has all packets of a group up to this one, and its
    /// number.
    pub(super) fn acknowledgement(&self, group: u32, top: u32) -> Option<(u32, Arc<[u8]>)> {
        let known = self.groups.get(&group)?.acknowledgements.range(..=top).next_back();
        known.map(|(top, bytes)| (*top, Arc::clone(bytes)))
    }
}

impl Group {
    fn decode(&mut self, ledger: &Ledger, bytes: &[u8]) -> Option<Body> {
        let before = self.decoder.received();
        let (mut names, mut altered) = (Vec::new(), 0);
        let decoded = self.decoder.decode_packet(bytes, |message| {
            for (name, message) in find(message.bytes) {
                match ledger.sent(name, message) {
                    Some(_) => names.push(name),
                    None => altered += 1,
                }
            }
        });
        decoded.ok()?;
        let number = came(before, self.decoder.received())?;
        let mut acknowledgement = Vec::new();
        self.decoder.acknowledge(&mut acknowledgement);
        if let Some(top) = top(&acknowledgement, number) {
            self.acknowledgements.insert(top, acknowledgement.into());
            if self.acknowledgements.len() > KEPT {
                self.acknowledgements.pop_first();
            }
        }
        Some(Body { number, names, altered })
    }
}

/// The settings of W70, and limits of the session.
fn config() -> Config {
    Config {
        delivery: Delivery::Room,
        memory: 128 << 10,
        fields: FIELDS,
        max_message: 65_536,
        check: true,
        ..Config::default()
    }
}

fn decoder(model: &[u8]) -> Result<Decoder, String> {
    let mut decoder = Decoder::from_snapshot(config(), model).map_err(|error| error.to_string())?;
    decoder.keep_more(FOR_LATE_ONES);
    Ok(decoder)
}

fn entry(mut decoder: Decoder) -> (Entry, Decoder) {
    let mut acknowledgement = Vec::new();
    decoder.acknowledge(&mut acknowledgement);
    let (newest, _) = decoder.received();
    (Entry { newest, acknowledgement: acknowledgement.into() }, decoder)
}

/// The packet that arrived between two states: the newest packet, and a bit for each one before it.
fn came(before: (u32, u128), after: (u32, u128)) -> Option<u32> {
    if after.0 != before.0 {
        return Some(after.0);
    }
    let new = before.1 ^ after.1;
    (new != 0).then(|| after.0.wrapping_sub(new.trailing_zeros()))
}

/// The number of the packet up to which gmc acknowledges. The acknowledgement has its low sixteen
/// bits; it is near `number`.
fn top(acknowledgement: &[u8], number: u32) -> Option<u32> {
    let &[_, low, high, _, ..] = acknowledgement else { return None };
    let behind = (number as u16).wrapping_sub(u16::from_le_bytes([low, high])) as i16;
    Some(number.wrapping_sub(i32::from(behind) as u32))
}

#[cfg(test)]
mod tests {
    use groupwire_gmc::{Encoder, Message};

    use super::super::message::Pointer;
    use super::*;

    #[test]
    fn w70_a_body_is_decoded_once_and_acknowledged_for_who_has_it() {
        let (ledger, mut pointer) = (Ledger::new(1, 10), Pointer::new(0, 1));
        let mut encoder = Encoder::new(config());
        let mut model = Vec::new();
        encoder.snapshot(&mut model);
        let mut reference = Reference::default();
        let entry = reference.enter(7, &model).unwrap();
        assert_eq!(entry.newest, 0);
        assert!(reference.read(&ledger, 8, b"x").is_none());

        let mut bodies = Vec::new();
        for _ in 0..3 {
            let (name, message) = pointer.next(1_764_012_345_678);
            assert!(ledger.send(name, &message));
            let mut body = Vec::new();
            let batch = [Message { fields: &[1, 2, 0, 0, 0, 0], bytes: &message }];
            encoder.encode_packet(batch, &mut body).unwrap();
            bodies.push(body);
        }
        // The second packet is late.
        for (which, top) in [(0, 1), (2, 1), (1, 3)] {
            let body = reference.read(&ledger, 7, &bodies[which]).unwrap();
            assert_eq!((body.number, body.names.len(), body.altered), (which as u32 + 1, 1, 0));
            let again = reference.read(&ledger, 7, &bodies[which]).unwrap();
            assert!(Arc::ptr_eq(&body, &again));
            let (acknowledged, bytes) = reference.acknowledgement(7, 3).unwrap();
            assert_eq!(acknowledged, top);
            assert_eq!(encoder.acknowledge(&bytes).unwrap(), Some(top));
        }
        assert_eq!(reference.acknowledgement(7, 2).unwrap().0, 1);
        let mut altered = bodies[0].clone();
        altered[2] ^= 1;
        assert!(reference.read(&ledger, 7, &altered).is_none_or(|body| body.names.is_empty()));
    }
}
