//! The open rooms, or the open documents, of a server by name. Their number has a limit, at which
//! those that nobody uses are closed for new ones.

use std::collections::{BTreeMap, HashMap};

use tokio::sync::mpsc::UnboundedSender;

/// Tables of up to this capacity are not shrunk.
const SMALL: usize = 64;

/// See the [module](self). `M`: the messages to the task of a room or document.
pub(crate) struct OpenTable<M> {
    entries: HashMap<String, Entry<M>>,
    /// The names of those that may be closed at any time, in the order in which they were offered.
    spare: BTreeMap<u64, String>,
    /// The number of entries that were asked to close, and have not done so yet.
    closing: usize,
    /// The number of the next offer.
    next: u64,
}

struct Entry<M> {
    task: UnboundedSender<M>,
    state: State,
    /// True if the task answers: it does not load anything any more.
    is_ready: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    /// An entry that somebody uses, or that loses something if it is closed.
    Used,
    /// An entry that may be closed at any time. The number is that of the offer.
    Spare(u64),
    /// An entry whose task was asked to close.
    Closing,
}

impl<M> OpenTable<M> {
    /// The sender of messages to the task of this name.
    pub(crate) fn get(&self, name: &str) -> Option<&UnboundedSender<M>> {
        self.entries.get(name).map(|entry| &entry.task)
    }

    /// The same for somebody who comes to stay, so that it is not closed for others.
    pub(crate) fn enter(&mut self, name: &str) -> Option<&UnboundedSender<M>> {
        let entry = self.entries.get_mut(name)?;
        let state = std::mem::replace(&mut entry.state, State::Used);
        forget(state, &mut self.spare, &mut self.closing);
        Some(&entry.task)
    }

    /// Adds one in use, whose task does not answer yet, in the place of a former one of this name,
    /// whose task has ended.
    pub(crate) fn insert(&mut self, name: &str, task: UnboundedSender<M>) {
        debug_assert!(
            self.get(name).is_none_or(UnboundedSender::is_closed),
            "a room or document is open once: {name:?}"
        );
        self.remove(name);
        self.entries.insert(name.to_owned(), Entry { task, state: State::Used, is_ready: false });
    }

    /// The task of this name answers from now on.
    pub(crate) fn set_ready(&mut self, name: &str) {
        if let Some(entry) = self.entries.get_mut(name) {
            entry.is_ready = true;
        }
    }

    /// Removes one. A table of which less than a quarter is used is shrunk to half, so that
    /// removals are cheap on average.
    pub(crate) fn remove(&mut self, name: &str) {
        if let Some(entry) = self.entries.remove(name) {
            forget(entry.state, &mut self.spare, &mut self.closing);
        }
        let places = self.entries.capacity();
        if places > SMALL && self.entries.len() < places / 4 {
            self.entries.shrink_to(places / 2);
        }
    }

    /// Offers one to be closed when its place is needed. The next [`enter`](Self::enter) ends the
    /// offer.
    pub(crate) fn offer(&mut self, name: &str) {
        let Some(entry) = self.entries.get_mut(name) else { return };
        if entry.state == State::Used {
            entry.state = State::Spare(self.next);
            self.spare.insert(self.next, name.to_owned());
            self.next += 1;
        }
    }

    /// Makes room for another entry below `limit`. Returns the senders to the tasks that have to be
    /// told to close, those that were offered first before the others; `None` if not enough of them
    /// may be closed. They keep their entries until they are removed.
    pub(crate) fn make_place(&mut self, limit: usize) -> Option<Vec<UnboundedSender<M>>> {
        debug_assert!(
            self.closing + self.spare.len() <= self.entries.len(),
            "each entry is either used, spare or closing"
        );
        let excess = (self.entries.len() - self.closing + 1).saturating_sub(limit);
        if excess > self.spare.len() {
            return None;
        }
        let mut told = Vec::new();
        while told.len() < excess
            && let Some((_, name)) = self.spare.pop_first()
        {
            if let Some(entry) = self.entries.get_mut(&name) {
                entry.state = State::Closing;
                self.closing += 1;
                told.push(entry.task.clone());
            }
        }
        Some(told)
    }

    /// The number of open ones, including those that are about to close.
    pub(crate) fn len(&self) -> usize {
        self.entries.len()
    }

    /// The names of those whose tasks answer, with the senders to these tasks.
    pub(crate) fn ready(&self) -> impl Iterator<Item = (&String, &UnboundedSender<M>)> {
        let ready = self.entries.iter().filter(|(_, entry)| entry.is_ready);
        ready.map(|(name, entry)| (name, &entry.task))
    }

    /// All entries by name, with those that are being loaded.
    pub(crate) fn all(&self) -> impl Iterator<Item = (&String, &UnboundedSender<M>)> {
        self.entries.iter().map(|(name, entry)| (name, &entry.task))
    }

    /// The senders to all tasks.
    pub(crate) fn tasks(&self) -> impl Iterator<Item = &UnboundedSender<M>> {
        self.entries.values().map(|entry| &entry.task)
    }
}

/// Updates the accounts of an entry that leaves this state.
fn forget(state: State, spare: &mut BTreeMap<u64, String>, closing: &mut usize) {
    match state {
        State::Used => {}
        State::Spare(offer) => drop(spare.remove(&offer)),
        State::Closing => *closing -= 1,
    }
}

impl<M> Default for OpenTable<M> {
    fn default() -> Self {
        OpenTable { entries: HashMap::new(), spare: BTreeMap::new(), closing: 0, next: 0 }
    }
}

#[cfg(test)]
mod tests {
    use tokio::sync::mpsc::{self, UnboundedReceiver};

    use super::*;

    fn add(table: &mut OpenTable<&'static str>, name: &str) -> UnboundedReceiver<&'static str> {
        let (sender, receiver) = mpsc::unbounded_channel();
        table.insert(name, sender);
        receiver
    }

    /// Tells those that have to close, and returns whether there is a place.
    fn make_place(table: &mut OpenTable<&'static str>, limit: usize) -> bool {
        let told = table.make_place(limit);
        told.inspect(|told| told.iter().for_each(|task| task.send("close").unwrap())).is_some()
    }

    #[test]
    fn the_one_that_was_offered_first_is_closed_and_none_that_is_used() {
        let mut table = OpenTable::default();
        let mut tasks = ["a", "b", "c"].map(|name| add(&mut table, name));
        assert!(!make_place(&mut table, 3), "all are used");
        for name in ["b", "c", "a", "b"] {
            table.offer(name);
        }
        table.enter("b").unwrap();
        assert!(make_place(&mut table, 3));
        assert_eq!(tasks.each_mut().map(|task| task.try_recv().ok()), [None, None, Some("close")]);
        // Until it has closed it does not count, and keeps its entry.
        let _four = add(&mut table, "d");
        assert_eq!((table.len(), table.get("c").is_some()), (4, true));
        table.offer("b");
        assert!(make_place(&mut table, 3));
        assert_eq!(tasks[0].try_recv(), Ok("close"), "it was offered before b was offered again");
        table.remove("c");
        table.remove("a");
        assert_eq!((table.len(), table.closing), (2, 0));
    }

    #[test]
    fn one_that_is_entered_while_it_closes_counts_again() {
        let mut table = OpenTable::default();
        let _tasks = ["a", "b"].map(|name| add(&mut table, name));
        table.offer("a");
        assert!(make_place(&mut table, 2));
        let _three = add(&mut table, "c");
        table.enter("a").unwrap();
        assert_eq!(table.closing, 0);
        assert!(!make_place(&mut table, 3));
        table.offer("b");
        assert!(!make_place(&mut table, 2), "two would have to close");
        table.offer("a");
        assert!(make_place(&mut table, 2));
        assert_eq!((table.closing, table.spare.len()), (2, 0));
        table.offer("unknown");
        table.remove("unknown");
        assert_eq!((table.closing, table.spare.len()), (2, 0));
    }

    #[test]
    fn what_many_have_left_is_small() {
        let mut table = OpenTable::default();
        let (sender, _receiver) = mpsc::unbounded_channel::<()>();
        for index in 0..10_000 {
            table.insert(&format!("document {index}"), sender.clone());
        }
        let most = table.entries.capacity();
        for index in 0..9_990 {
            table.remove(&format!("document {index}"));
            let places = table.entries.capacity();
            assert!(places <= (table.len() * 8).max(2 * SMALL), "{}", table.len());
        }
        assert!(most >= 10_000 && table.len() == 10);
        assert!((9_990..10_000).all(|index| table.get(&format!("document {index}")).is_some()));
    }
}
