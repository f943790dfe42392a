//! The promises about transactions, checked by what clients saw.

use std::collections::BTreeMap;
use std::time::Duration;

use groupwire_session::client::Status;
use groupwire_store::{Directory, RoomLog};

use super::person::Person;
use super::serving::Serving;
use super::{ROOMS, Rooms, name_of};
use crate::world::World;

/// A room, and its incarnation.
type Life = (usize, u64);

/// Everything that clients saw, of all of them.
#[derive(Default)]
pub(super) struct Seen {
    /// The transaction at each position.
    order: BTreeMap<(Life, u64), String>,
    /// The position of each transaction.
    places: BTreeMap<(Life, String), u64>,
    /// The last position that anybody saw.
    heads: BTreeMap<Life, u64>,
}

impl Seen {
    /// A client saw a transaction at a position, as all others must.
    pub(super) fn see(&mut self, life: Life, position: u64, text: &str) {
        let before = self.order.entry((life, position)).or_insert_with(|| text.to_owned());
        assert_eq!(before, text, "two transactions have position {position} of {life:x?}");
        let place = *self.places.entry((life, text.to_owned())).or_insert(position);
        assert_eq!(place, position, "{text} has two positions in {life:x?}");
        let head = self.heads.entry(life).or_default();
        *head = position.max(*head);
    }

    /// Checks that the store of an owner has all that clients saw of the rooms of a shard.
    pub(super) fn is_in(&self, process: &Serving, shard: u16) -> Result<(), String> {
        let shards = process.shards.len();
        let stored = process.store.rooms();
        for ((room, incarnation), seen) in &self.heads {
            let name = name_of(*room);
            let stored = stored.iter().find(|stored| stored.name == name);
            let head = stored.map_or(0, |stored| stored.head);
            if *room % shards == usize::from(shard) && head < *seen {
                return Err(format!("it has {head} of {seen} in {name} {incarnation:x}"));
            }
        }
        Ok(())
    }
}

/// At the end, when all nodes and clients had time.
pub(super) fn end(world: &mut World<Rooms>, until: Duration) {
    for room in 0..usize::from(world.shards) * ROOMS {
        let people: Vec<(usize, &Person)> =
            world.service.people.iter().enumerate().filter(|(_, it)| it.room == room).collect();
        let is_harmed = world.engine.logs[room % usize::from(world.shards)].harmed.is_some();
        let mut here = people.iter().filter(|(_, person)| !person.leaves);
        let (_, first) = here.next().expect("somebody stays");
        for (at, person) in people.iter().filter(|(_, person)| !person.leaves) {
            assert_eq!(person.status, Status::Connected, "person {at}");
            assert_eq!(person.client.pending(), 0, "person {at} waits");
            assert_eq!(person.document, first.document, "person {at} has another document");
        }
        all_have_pointers(&people);
        find_confirmed(&people, &first.document, is_harmed);
        let last = people.iter().map(|(_, person)| person.confirmed_at).max().unwrap_or_default();
        assert!(until.saturating_sub(last) < Duration::from_secs(5), "nothing since {last:?}");
        replicas_agree(world, room, first.position);
    }
    for (at, person) in world.service.people.iter().enumerate() {
        assert!(person.leaves == person.has_left(), "person {at} has left, or has not");
    }
}

/// What was confirmed is in the document once, in its order.
fn find_confirmed(people: &[(usize, &Person)], document: &[String], is_harmed: bool) {
    let mut places: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    for (place, text) in document.iter().enumerate() {
        places.entry(text).or_default().push(place);
    }
    for (at, person) in people {
        // Those that left are not told of a gap.
        if is_harmed && person.leaves {
            continue;
        }
        let mut last = None;
        for text in &person.confirmed {
            let found = places.get(text.as_str()).map_or(&[][..], |found| found);
            // After a gap, what was uncertain is sent again.
            let is_right = found.len() == 1 || found.len() > 1 && person.gaps > 0;
            assert!(is_right, "{text}, which was confirmed, is there {found:?}");
            assert!(last < found.last(), "{text} has moved before what person {at} sent before it");
            last = found.last();
        }
        let sent = if person.leaves { person.confirmed.len() } else { person.next as usize };
        let is_all = person.confirmed.len() == sent || person.gaps > 0;
        assert!(is_all, "of {sent} that person {at} sent, {:?} are confirmed", person.confirmed);
    }
}

/// Each person knows the other ones and their pointers.
fn all_have_pointers(people: &[(usize, &Person)]) {
    let here = || people.iter().filter(|(_, person)| !person.leaves);
    for (at, person) in here() {
        for (_, other) in here().filter(|(other, _)| other != at) {
            let id = other.client.participant().expect("it is connected");
            assert!(person.others.contains_key(&id), "person {at} does not know {id:?}");
            let pointer = person.pointers.get(&id).copied().unwrap_or_default();
            assert_eq!(pointer, other.pointer, "person {at} of {id:?}");
        }
    }
}

/// The stores of all nodes hold the same room.
fn replicas_agree(world: &World<Rooms>, room: usize, head: u64) {
    let name = name_of(room);
    let mut first = None;
    for node in world.nodes.iter().filter(|node| !node.is_double) {
        let process = node.process.as_ref().expect("all nodes run");
        let loaded = process.service.store.load(&name).expect("a store in memory can be read");
        let loaded = loaded.map(|loaded| (loaded.incarnation, loaded.head, loaded.records));
        assert_eq!(loaded.as_ref().map_or(0, |(_, head, _)| *head), head, "{} {name}", node.name);
        let first = first.get_or_insert_with(|| loaded.clone());
        assert_eq!(*first, loaded, "{} has another {name}", node.name);
    }
}
