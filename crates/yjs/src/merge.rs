//! Merges updates, and cuts off the part that a receiver has already.

use alloc::collections::BinaryHeap;
use alloc::vec::Vec;
use core::cmp::Reverse;

use crate::content::Content;
use crate::ranges::Ranges;
use crate::reader::Id;
use crate::state_vector::StateVector;
use crate::structs::{Body, Struct, write_skip};
use crate::update::{Structs, Update};
use crate::{deletes, writer};

/// One update with the content of all of these. It has gaps where none of them has the content.
#[must_use]
pub fn merge(updates: &[Update<'_>]) -> Vec<u8> {
    write(updates, &StateVector::default(), None)
}

/// The part of an update that a receiver with the state vector `since` lacks: later structs, and
/// all deletions.
#[must_use]
pub fn diff(update: &Update<'_>, since: &StateVector) -> Vec<u8> {
    write(core::slice::from_ref(update), since, None)
}

/// The same update without deleted content, which Yjs forgets, too, unless `gc` is off. It has the
/// same structs and deletions. Short stretches in a text stay, as cutting makes it longer. Programs
/// that show earlier states or deleted content need that content.
///
/// ```
/// use groupwire_yjs::{Update, without_deleted};
///
/// // Client 1 wrote "hi" into the text "t", and deleted it.
/// let update = [1, 1, 1, 0, 4, 1, 1, b't', 2, b'h', b'i', 1, 1, 1, 0, 2];
/// let collected = without_deleted(&Update::parse(&update)?);
/// assert_eq!(collected, [1, 1, 1, 0, 1, 1, 1, b't', 2, 1, 1, 1, 0, 2]);
/// # Ok::<(), groupwire_yjs::Error>(())
/// ```
#[must_use]
pub fn without_deleted(update: &Update<'_>) -> Vec<u8> {
    let mut deleted = Ranges::default();
    for (client, ranges) in update.delete_set().iter() {
        for &(clock, end) in ranges {
            deleted.insert(Id { client, clock }, end);
        }
    }
    write(core::slice::from_ref(update), &StateVector::default(), Some(&deleted))
}

fn write(updates: &[Update<'_>], since: &StateVector, garbage: Option<&Ranges>) -> Vec<u8> {
    let mut out = Vec::new();
    write_structs(updates, since, garbage, &mut out);
    let mut deleted: Vec<_> = updates
        .iter()
        .flat_map(|update| update.deletes.iter().map(move |&block| (update.bytes, block)))
        .collect();
    deletes::write(&mut deleted, &mut out);
    out
}

/// Writes the structs of these updates together, from these clocks on, without the content of
/// `garbage`.
pub(crate) fn write_structs(
    updates: &[Update<'_>],
    since: &StateVector,
    garbage: Option<&Ranges>,
    out: &mut Vec<u8>,
) {
    let mut blocks: Vec<_> = updates
        .iter()
        .flat_map(|update| update.blocks.iter().map(move |block| (update, block)))
        .collect();
    // Yjs writes the greatest client first, too. The sort keeps the order of a client's updates.
    blocks.sort_by_key(|(_, block)| Reverse(block.client));
    let mut body = Vec::new();
    let mut clients = 0;
    let mut kept = Vec::new();
    for alike in blocks.chunk_by(|(_, a), (_, b)| a.client == b.client) {
        let Some((_, first)) = alike.first() else { continue };
        let sources = alike.iter().map(|(update, block)| update.structs(block));
        let mut run = Run::new(since.get(first.client));
        merge_client(sources, |one| match garbage {
            Some(garbage) => one.parts(garbage, &mut kept, |part| run.add(part)),
            None => run.add(one),
        });
        clients += u64::from(run.finish(first.client, &mut body));
    }
    out.reserve(body.len() + 9);
    writer::number(out, clients);
    out.append(&mut body);
}

/// Hands over the structs of one client in the order of their clocks.
fn merge_client<'a>(sources: impl Iterator<Item = Structs<'a>>, mut add: impl FnMut(Struct<'a>)) {
    let mut sources: Vec<Structs<'a>> = sources.collect();
    // The clock of the next struct of each source. If clocks are equal, the first source comes
    // first.
    let mut order: BinaryHeap<Reverse<(u64, usize)>> = BinaryHeap::with_capacity(sources.len());
    order.extend(
        sources.iter().enumerate().filter_map(|(at, source)| Some(Reverse((source.clock()?, at)))),
    );
    while let Some(Reverse((_, at))) = order.pop() {
        let Some(source) = sources.get_mut(at) else { break };
        if let Some(one) = source.next().filter(|one| !matches!(one.body, Body::Skip)) {
            add(one);
        }
        if let Some(clock) = source.clock() {
            order.push(Reverse((clock, at)));
        }
    }
}

/// The structs of one client that are written.
struct Run<'a> {
    out: Vec<u8>,
    count: u64,
    /// The clock of the first struct.
    start: Option<u64>,
    /// The clock after the last struct.
    end: u64,
    /// The last struct, which is not written yet, because the next one may be joined to it.
    last: Option<Last<'a>>,
}

struct Last<'a> {
    first: Struct<'a>,
    /// The first clock of `first` that is written.
    from: u64,
    /// The last struct that was joined to `first`; at the beginning, `first` itself.
    newest: Struct<'a>,
    /// The texts that were joined to `first`.
    texts: Vec<&'a str>,
    /// True if deleted units were joined to `first`.
    is_deleted: bool,
}

impl<'a> Run<'a> {
    /// `since`: structs before this clock are left out.
    fn new(since: u64) -> Self {
        Run { out: Vec::new(), count: 0, start: None, end: since, last: None }
    }

    fn add(&mut self, one: Struct<'a>) {
        if one.end() <= self.end {
            return;
        }
        let from = one.id.clock.max(self.end);
        if self.start.is_none() {
            self.start = Some(from);
        } else if from > self.end {
            self.flush();
            write_skip(&mut self.out, from - self.end);
            self.count += 1;
        }
        self.end = one.end();
        if let Some(last) = &mut self.last
            && last.takes(&one, from)
        {
            return;
        }
        self.flush();
        self.last =
            Some(Last { first: one, from, newest: one, texts: Vec::new(), is_deleted: false });
    }

    fn flush(&mut self) {
        if let Some(last) = self.last.take() {
            last.write(&mut self.out);
            self.count += 1;
        }
    }

    /// Appends all structs to `out`. Returns whether there were any.
    fn finish(mut self, client: u64, out: &mut Vec<u8>) -> bool {
        self.flush();
        let Some(start) = self.start else { return false };
        writer::number(out, self.count);
        writer::number(out, client);
        writer::number(out, start);
        out.append(&mut self.out);
        true
    }
}

impl<'a> Last<'a> {
    /// Joins the next struct to this one, if both can be one. So letters that were typed one by one
    /// become one text.
    fn takes(&mut self, next: &Struct<'a>, from: u64) -> bool {
        match next.continues(&self.newest, from) {
            Some(Content::Text(text)) => self.texts.push(text),
            Some(Content::Deleted(_)) => self.is_deleted = true,
            _ => return false,
        }
        self.newest = *next;
        true
    }

    fn write(&self, out: &mut Vec<u8>) {
        if self.is_deleted {
            self.first.write_deleted(out, self.from, self.newest.end());
        } else if self.texts.is_empty() {
            self.first.write(out, self.from);
        } else {
            self.first.write_joined(out, self.from, &self.texts);
        }
    }
}
