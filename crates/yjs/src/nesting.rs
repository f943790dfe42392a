use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use crate::reader::Id;
use crate::structs::{Body, Item, Parent, Struct};
use crate::update::{Structs, Update};

/// How deep the shared types of a document contain each other, and which structs it has. A CRDT
/// that calls itself for each level needs a bound for that, or its stack overflows.
///
/// ```
/// use groupwire_yjs::{Fits, Nesting, Update};
///
/// // Client 1 made an array in the array "a", and then wrote 7 into the inner one.
/// let first = [1, 1, 1, 0, 7, 1, 1, b'a', 0, 0];
/// let second = [1, 1, 1, 1, 8, 0, 1, 0, 1, 125, 7, 0];
/// let mut nesting = Nesting::new(2);
/// assert_eq!(nesting.add(&Update::parse(&second)?), Fits::NotYet, "the inner array is missing");
/// assert_eq!(nesting.add(&Update::parse(&first)?), Fits::Yes);
/// assert_eq!(nesting.add(&Update::parse(&second)?), Fits::Yes);
/// assert_eq!(Nesting::new(1).add(&Update::parse(&first)?), Fits::Yes);
/// # Ok::<(), groupwire_yjs::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Nesting {
    limit: u32,
    known: Depths,
}

/// Whether an update can be handed to a CRDT.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fits {
    /// All structs that it refers to are there, and nothing is nested too deep.
    Yes,
    /// It refers to structs that have not been added.
    NotYet,
    /// It nests shared types deeper than the limit.
    TooDeep,
}

/// Depths by the client and the first clock of a run of structs of the same depth, with the clock
/// after the run. Items of the document's own types have the depth 1, garbage has 0.
type Depths = BTreeMap<(u64, u64), (u64, u32)>;

impl Nesting {
    /// Of an empty document. `limit`: items may be in this many shared types, one in the other.
    #[must_use]
    pub fn new(limit: u32) -> Self {
        Nesting { limit, known: Depths::new() }
    }

    /// Adds an update if it fits. Its time grows with its size times the logarithm of that of the
    /// document.
    pub fn add(&mut self, update: &Update<'_>) -> Fits {
        let mut new = Depths::new();
        let fits = Walk::new(self, update).run(&mut new);
        if fits == Fits::Yes {
            new.into_iter().for_each(|((client, clock), (end, depth))| {
                insert(&mut self.known, Id { client, clock }, end, depth);
            });
        }
        fits
    }
}

/// A pass over the structs of an update in an order in which each one comes after those that it
/// refers to.
struct Walk<'a, 'b> {
    nesting: &'b Nesting,
    /// The structs that are left, by client.
    left: BTreeMap<u64, Structs<'a>>,
    /// The clients that wait for the unit of this client and clock.
    waiting: BTreeMap<(u64, u64), Vec<u64>>,
}

impl<'a, 'b> Walk<'a, 'b> {
    fn new(nesting: &'b Nesting, update: &Update<'a>) -> Self {
        let left = update.blocks.iter().map(|block| (block.client, update.structs(block)));
        Walk { nesting, left: left.collect(), waiting: BTreeMap::new() }
    }

    fn run(mut self, new: &mut Depths) -> Fits {
        let mut ready: Vec<u64> = self.left.keys().copied().collect();
        while let Some(client) = ready.pop() {
            while let Some(mut rest) = self.left.get(&client).cloned() {
                let Some(one) = rest.next() else { break };
                match self.depth_of(&one, new) {
                    Ok(depth) if depth > self.nesting.limit => return Fits::TooDeep,
                    Ok(_) if matches!(one.body, Body::Skip) => {}
                    Ok(depth) => insert(new, one.id, one.end(), depth),
                    Err(missing) => {
                        let place = (missing.client, missing.clock);
                        self.waiting.entry(place).or_default().push(client);
                        break;
                    }
                }
                self.left.insert(client, rest);
                let passed = (client, one.id.clock)..(client, one.end());
                while let Some((&place, _)) = self.waiting.range(passed.clone()).next() {
                    ready.extend(self.waiting.remove(&place).unwrap_or_default());
                }
            }
        }
        match self.left.values().all(|structs| structs.clock().is_none()) {
            true => Fits::Yes,
            false => Fits::NotYet,
        }
    }

    /// The depth of a struct.
    ///
    /// # Errors
    /// A struct that has to come before it.
    fn depth_of(&self, one: &Struct<'_>, new: &Depths) -> Result<u32, Id> {
        let depth = |id: Id| find(new, id).or_else(|| find(&self.nesting.known, id)).ok_or(id);
        if let Some(clock) = one.id.clock.checked_sub(1) {
            depth(Id { clock, ..one.id })?;
        }
        match one.body {
            Body::Item(item) => depth_of_item(&item, depth),
            Body::Garbage => Ok(0),
            // The units that the update leaves out have to be there.
            Body::Skip => depth(Id { clock: one.end() - 1, ..one.id }),
        }
    }
}

fn depth_of_item(item: &Item<'_>, depth: impl Fn(Id) -> Result<u32, Id>) -> Result<u32, Id> {
    let mut deepest = 0;
    for neighbour in item.neighbours().into_iter().flatten() {
        deepest = deepest.max(depth(neighbour)?);
    }
    Ok(match item.parent() {
        None => deepest,
        Some(Parent::Root) => 1,
        Some(Parent::Item(parent)) => depth(parent)? + 1,
    })
}

fn find(depths: &Depths, id: Id) -> Option<u32> {
    let (&(client, _), &(end, depth)) = depths.range(..=(id.client, id.clock)).next_back()?;
    (client == id.client && id.clock < end).then_some(depth)
}

/// Adds a run, and joins it to the run before it if both have the same depth.
fn insert(depths: &mut Depths, id: Id, end: u64, depth: u32) {
    if let Some((&(client, _), before)) = depths.range_mut(..=(id.client, id.clock)).next_back()
        && client == id.client
        && before.1 == depth
        && before.0 >= id.clock
    {
        before.0 = before.0.max(end);
        return;
    }
    depths.insert((id.client, id.clock), (end, depth));
}
