//! The format of an expert who knows the messages and the people: predictions from each sender's
//! last messages, and adaptive Rice codes for how far they are off.
//!
//! - The sender and the kind of message are found by how recently they were used, in a code of
//!   ones.
//! - A message comes as long after the sender's last as messages of its kind lately did.
//! - A pointer goes on in its direction, a little slower; how far it may be off follows its speed.
//! - Objects, fixed corners and positions in texts are those of the sender's message before.
//! - Characters are found by their rank in how often they were used.

use super::bits::{Bits, Reader, Writer};
use super::letters::Letters;
use super::record::{Coordinates, Record, Thing, kinds};
use super::rice::Rice;
use super::{Error, EventCodec};
use crate::drawing::{Event, SESSION_ID};

/// The most senders that are remembered. Both ends forget the one whose last message is the oldest.
const MAX_SENDERS: usize = 64;
/// Sizes of numbers that have a code of their own: up to a speed of 2^11 pixels per message.
const SPEEDS: usize = 12;
/// A pause of this many ms ends a movement: three times the usual interval of 33 ms, and a bit.
const MOVEMENT_MS: u64 = 120;

/// One end of an ordered stream.
pub(super) struct Strong {
    /// The senders, the one with the newest message first.
    senders: Vec<Sender>,
    /// The codes of times, by kind of message.
    times: [Rice; kinds::COUNT],
    /// The codes of places, by the speed until now, for x and y.
    places: [[Rice; SPEEDS]; 2],
    objects: Rice,
    positions: Rice,
    deletions: Rice,
    /// The codes of lengths, by kind of message, because chat is longer than the text of a key.
    lengths: [Rice; kinds::COUNT],
    counts: Rice,
    letters: Letters,
    /// The number of the last object created.
    newest: u64,
}

/// The last actions of one sender.
struct Sender {
    number: u64,
    /// The kinds of messages, the most recent one first.
    kinds: [u64; kinds::COUNT],
    time: u64,
    /// The usual time between two messages, by kind, in ms.
    interval: [u64; kinds::COUNT],
    place: Coordinates,
    /// The distance that the pointer moved with the last message.
    speed: (i64, i64),
    object: u64,
    fixed: Coordinates,
    position: u64,
}

impl Strong {
    pub(super) fn new() -> Self {
        Self {
            senders: Vec::new(),
            times: [Rice::new(16); kinds::COUNT],
            places: [std::array::from_fn(|speed| Rice::new(1 << speed.min(8))); 2],
            objects: Rice::new(4),
            positions: Rice::new(1),
            deletions: Rice::new(0),
            lengths: [Rice::new(1); kinds::COUNT],
            counts: Rice::new(32),
            letters: Letters::new(),
            newest: 0,
        }
    }

    fn message(&mut self, bits: &mut impl Bits, record: &mut Record) -> Result<(), Error> {
        let mut sender = self.sender(bits, record.sender)?;
        let kind = sender.kind(bits, record.kind)?;
        record.sender = sender.number;
        record.session = SESSION_ID.into();
        record.kind = kind as u64;
        self.time(bits, &mut sender, kind, &mut record.time)?;
        match record.kind {
            kinds::TELEPOINTER => self.place(bits, &mut sender, &mut record.thing.to)?,
            kinds::CREATE => {
                self.objects.code(bits, self.newest.wrapping_add(1), &mut record.thing.object)?;
                self.newest = record.thing.object;
                look(bits, &mut record.thing)?;
                self.place(bits, &mut sender, &mut record.thing.to)?;
                sender.object = record.thing.object;
                sender.fixed = record.thing.to;
            }
            kinds::MOVE => {
                self.object(bits, &mut sender, &mut record.thing.object)?;
                self.place(bits, &mut sender, &mut record.thing.to)?;
            }
            kinds::RESIZE => {
                self.object(bits, &mut sender, &mut record.thing.object)?;
                fixed(bits, &mut sender, &mut record.thing.from)?;
                self.place(bits, &mut sender, &mut record.thing.to)?;
            }
            kinds::CHAT => self.text(bits, kind, &mut record.text)?,
            kinds::EDIT => {
                self.object(bits, &mut sender, &mut record.thing.object)?;
                self.positions.code(bits, sender.position, &mut record.position)?;
                self.deletions.code_size(bits, &mut record.deleted)?;
                self.text(bits, kind, &mut record.text)?;
                sender.position = record.position.wrapping_add(record.text.chars().count() as u64);
            }
            kinds::MODEL => self.things(bits, &mut record.things)?,
            _ => return Err(Error::Value { field: "kind" }),
        }
        self.senders.insert(0, sender);
        self.senders.truncate(MAX_SENDERS);
        Ok(())
    }

    /// Takes the sender out of the list, or makes a new one.
    fn sender(&mut self, bits: &mut impl Bits, number: u64) -> Result<Sender, Error> {
        let known = self.senders.iter().position(|sender| sender.number == number);
        let mut rank = known.unwrap_or(self.senders.len()) as u64;
        bits.ones(&mut rank)?;
        if rank < self.senders.len() as u64 {
            return Ok(self.senders.remove(rank as usize));
        }
        let mut number = number;
        bits.bits(32, &mut number)?;
        Ok(Sender::new(number))
    }

    fn time(
        &mut self,
        bits: &mut impl Bits,
        sender: &mut Sender,
        kind: usize,
        time: &mut u64,
    ) -> Result<(), Error> {
        let usual = &mut sender.interval[kind];
        self.times[kind].code(bits, sender.time.wrapping_add(*usual), time)?;
        let passed = time.wrapping_sub(sender.time);
        sender.time = *time;
        match passed.cmp(usual) {
            std::cmp::Ordering::Less => *usual -= 1,
            std::cmp::Ordering::Equal => {}
            std::cmp::Ordering::Greater => *usual += 1,
        }
        if passed > MOVEMENT_MS {
            sender.speed = (0, 0);
        }
        Ok(())
    }

    fn place(
        &mut self,
        bits: &mut impl Bits,
        sender: &mut Sender,
        place: &mut Coordinates,
    ) -> Result<(), Error> {
        let (before, speed) = (sender.place, sender.speed);
        let class = |speed: i64| {
            let bits = u64::BITS - speed.unsigned_abs().leading_zeros();
            (bits as usize).min(SPEEDS - 1)
        };
        // A pointer that is fast in one direction is also harder to predict in the other.
        let fastest = class(speed.0).max(class(speed.1));
        // Movements slow down more than they speed up; half to three quarters do as well.
        let next = |from: u64, speed: i64| from.wrapping_add_signed(speed * 5 / 8);
        self.places[0][(class(speed.0) + fastest) / 2].code(
            bits,
            next(before.x, speed.0),
            &mut place.x,
        )?;
        self.places[1][(class(speed.1) + fastest) / 2].code(
            bits,
            next(before.y, speed.1),
            &mut place.y,
        )?;
        // Anything beyond the canvas comes from a damaged message, and has to be refused before it
        // is reckoned with.
        if place.x.max(place.y) > u16::MAX.into() {
            return Err(Error::Value { field: "coordinate" });
        }
        sender.speed = (place.x as i64 - before.x as i64, place.y as i64 - before.y as i64);
        sender.place = *place;
        Ok(())
    }

    /// Codes an object: the sender's last one, or one by its distance from the newest.
    fn object(
        &mut self,
        bits: &mut impl Bits,
        sender: &mut Sender,
        object: &mut u64,
    ) -> Result<(), Error> {
        let mut other = *object != sender.object;
        bits.flag(&mut other)?;
        if other {
            self.objects.code(bits, self.newest, object)?;
            sender.object = *object;
        }
        *object = sender.object;
        Ok(())
    }

    fn text(&mut self, bits: &mut impl Bits, kind: usize, text: &mut String) -> Result<(), Error> {
        let given = std::mem::take(text);
        let mut characters = given.chars();
        let mut length = characters.clone().count() as u64;
        self.lengths[kind].code_size(bits, &mut length)?;
        for _ in 0..length {
            text.push(self.letters.code(bits, characters.next().unwrap_or_default())?);
        }
        Ok(())
    }

    fn things(&mut self, bits: &mut impl Bits, things: &mut Vec<Thing>) -> Result<(), Error> {
        let mut count = things.len() as u64;
        self.counts.code_size(bits, &mut count)?;
        let mut number = 0_u64;
        for at in 0..count {
            if at as usize == things.len() {
                things.push(Thing::default());
            }
            let thing = &mut things[at as usize];
            self.objects.code(bits, number.wrapping_add(1), &mut thing.object)?;
            number = thing.object;
            look(bits, thing)?;
            whole(bits, &mut thing.from)?;
            whole(bits, &mut thing.to)?;
        }
        Ok(())
    }
}

impl Sender {
    fn new(number: u64) -> Self {
        Self {
            number,
            kinds: std::array::from_fn(|kind| kind as u64),
            time: 0,
            interval: [33; kinds::COUNT],
            place: Coordinates { x: 1000, y: 500 },
            speed: (0, 0),
            object: 0,
            fixed: Coordinates::default(),
            position: 0,
        }
    }

    fn kind(&mut self, bits: &mut impl Bits, kind: u64) -> Result<usize, Error> {
        let rank = self.kinds.iter().position(|other| *other == kind);
        let mut rank = rank.unwrap_or_default() as u64;
        bits.ones(&mut rank)?;
        if rank >= kinds::COUNT as u64 {
            return Err(Error::Value { field: "kind" });
        }
        self.kinds[..=rank as usize].rotate_right(1);
        Ok(self.kinds[0] as usize)
    }
}

fn fixed(bits: &mut impl Bits, sender: &mut Sender, place: &mut Coordinates) -> Result<(), Error> {
    let mut other = *place != sender.fixed;
    bits.flag(&mut other)?;
    if other {
        whole(bits, place)?;
        sender.fixed = *place;
    }
    *place = sender.fixed;
    Ok(())
}

/// Codes shape and colour: there are five of each.
fn look(bits: &mut impl Bits, thing: &mut Thing) -> Result<(), Error> {
    bits.bits(3, &mut thing.shape)?;
    bits.bits(3, &mut thing.colour)
}

/// Codes a place without a prediction: most canvases have less than 2048 pixels each way.
fn whole(bits: &mut impl Bits, place: &mut Coordinates) -> Result<(), Error> {
    let mut large = place.x.max(place.y) > 2047;
    bits.flag(&mut large)?;
    let width = if large { 16 } else { 11 };
    bits.bits(width, &mut place.x)?;
    bits.bits(width, &mut place.y)
}

impl EventCodec for Strong {
    fn encode(&mut self, event: &Event, out: &mut Vec<u8>) {
        let result = self.message(&mut Writer::new(out), &mut event.into());
        debug_assert_eq!(result, Ok(()), "any event can be written");
    }

    fn decode(&mut self, bytes: &[u8]) -> Result<Event, Error> {
        let mut reader = Reader::new(bytes);
        let mut record = Record::default();
        self.message(&mut reader, &mut record)?;
        reader.end()?;
        record.try_into()
    }
}
