//! An open document: its content, its awareness, and its connections. It does no I/O: it takes the
//! messages of connections, and puts messages into their outboxes.

use std::collections::BTreeMap;
use std::mem;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use axum::body::Bytes;
use groupwire_yjs::{
    Awareness, Document, MAX_NUMBER, Message, Recall, State, StateVector, Update, reply,
};

use super::config::YjsLimits;
use super::ending::Ending;
use super::figures::{Counters, add, subtract};
use super::outbox::Outbox;
use super::room::Change;

/// Why a client is turned away: no more content is taken, and no answers are made.
const NO_MEMORY: &str = "the open documents take too much memory";

/// A document that takes more bytes of memory than this for each byte of its updates is limited by
/// its memory.
const MEMORY_PER_BYTE: usize = 4;

/// Participants of the room count as connections. This bit tells their numbers from those of
/// connections.
const PARTICIPANTS: u64 = 1 << 63;

/// See the [module](self).
pub(super) struct OpenDocument {
    pub(super) document: Document,
    awareness: Awareness,
    peers: BTreeMap<u64, Peer>,
    counters: Arc<Counters>,
    limits: YjsLimits,
    /// Bytes of updates that wait for their place in the room.
    pub(super) waiting: usize,
    /// Clients of connections whose state has changed since it was sent to the room.
    untold: Vec<u64>,
    /// Bytes of memory that [`SharedDocument`](super::room::SharedDocument) takes.
    room_bytes: usize,
    /// The bytes of memory that this document has added to the counters.
    counted: usize,
}

/// A connection.
pub(super) struct Peer {
    pub(super) outbox: Outbox,
    pub(super) rights: Rights,
    /// The state vector of what the client was sent, if it reads so slowly that updates were left
    /// out.
    behind: Option<StateVector>,
}

/// What a client may do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Rights {
    /// The client's updates are taken.
    pub(super) may_write: bool,
    /// The client's awareness is shown to others.
    pub(super) may_be_seen: bool,
}

/// What the document's task does about a message.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Todo {
    Nothing,
    /// Nothing: the message was passed on to all connections.
    Told,
    /// Answer with the content that this state vector lacks.
    Answer(StateVector),
    /// Publish the update in the room. It takes effect when it has its place there.
    Publish(Vec<u8>),
}

impl Peer {
    pub(super) fn new(outbox: Outbox, rights: Rights) -> Self {
        Peer { outbox, rights, behind: None }
    }
}

impl OpenDocument {
    pub(super) fn new(document: Document, limits: YjsLimits, counters: Arc<Counters>) -> Self {
        let mut open = OpenDocument {
            document,
            awareness: Awareness::default(),
            peers: BTreeMap::new(),
            counters,
            limits,
            waiting: 0,
            untold: Vec::new(),
            room_bytes: 0,
            counted: 0,
        };
        open.count_memory();
        open
    }

    /// The number of connections.
    pub(super) fn len(&self) -> usize {
        self.peers.len()
    }

    /// A connection begins. Its client is asked for content that the server lacks, and is sent the
    /// states of awareness.
    pub(super) fn join(&mut self, connection: u64, peer: Peer) {
        peer.outbox.put_own(reply::ask_document(&self.document.state_vector()));
        if self.awareness.here().next().is_some() {
            self.give(&peer, reply::awareness(self.awareness.here()));
        }
        let former = self.peers.insert(connection, peer);
        debug_assert!(former.is_none(), "a connection joins a document once: {connection}");
        self.counters.connections.fetch_add(1, Ordering::Relaxed);
        add(&self.counters.joins, 1);
    }

    /// A connection has ended: its clients have left.
    pub(super) fn leave(&mut self, connection: u64) {
        if self.peers.remove(&connection).is_none() {
            return;
        }
        subtract(&self.counters.connections, 1);
        let departed = self.awareness.leave(connection);
        if !departed.gone.is_empty() {
            self.untold.extend(&departed.gone);
            self.tell_all(reply::awareness(self.awareness.states(departed.gone)));
        }
        for Recall { connection, client, clock } in departed.recalled {
            if let Some(peer) = self.peers.get(&connection) {
                let has_left = State { client, clock, json: None };
                peer.outbox.put(reply::awareness([has_left]).into());
            }
        }
        self.count_memory();
    }

    /// Takes a message of a connection.
    pub(super) fn take(&mut self, connection: u64, message: &[u8]) -> Todo {
        let Some(peer) = self.peers.get(&connection) else { return Todo::Nothing };
        let rights = peer.rights;
        let told = match Message::parse(message) {
            Ok(Message::AskDocument(there)) => return Todo::Answer(there),
            Ok(Message::Update(update)) => match self.news(rights, update) {
                Ok(None) => Ok(false),
                Ok(Some(news)) => {
                    self.waiting += news.len();
                    return Todo::Publish(news);
                }
                Err(ending) => Err(ending),
            },
            Ok(Message::Awareness(states)) if rights.may_be_seen => {
                self.take_states(connection, &states)
            }
            Ok(Message::AskAwareness) => {
                self.give(peer, reply::awareness(self.awareness.here()));
                Ok(false)
            }
            Ok(_) => Ok(false),
            Err(error) => Err(Ending::malformed(format!("the message is malformed: {error}"))),
        };
        match told {
            Ok(true) => Todo::Told,
            Ok(false) => Todo::Nothing,
            Err(ending) => {
                add(&self.counters.violations, 1);
                self.end(connection, ending);
                Todo::Nothing
            }
        }
    }

    /// What an update of a client changes; `None` if it changes nothing.
    fn news(&self, rights: Rights, update: &[u8]) -> Result<Option<Vec<u8>>, Ending> {
        if !rights.may_write {
            add(&self.counters.forbidden, 1);
            return Ok(None);
        }
        let update = Update::parse(update)
            .map_err(|error| Ending::malformed(format!("the update is malformed: {error}")))?;
        let Some(news) = self.document.news(&update) else {
            add(&self.counters.repeats, 1);
            return Ok(None);
        };
        let limit = self.limits.document_bytes;
        // A document that was crafted to take much memory is limited by its memory.
        let size = self.document.size().max(self.document.memory() / MEMORY_PER_BYTE);
        if size + self.waiting + news.len() > limit {
            let why = format!("the document has reached its limit of {limit} bytes");
            return Err(Ending::too_large(why));
        }
        if !self.has_memory() {
            return Err(Ending::not_now(NO_MEMORY));
        }
        Ok(Some(news))
    }

    /// Takes states of awareness. Returns whether some were passed on to all connections.
    fn take_states(&mut self, connection: u64, states: &[State<'_>]) -> Result<bool, Ending> {
        let applied = self.awareness.apply(connection, states);
        let applied = applied.map_err(Ending::too_large)?;
        add(&self.counters.states, applied.changed.len());
        add(&self.counters.stale_states, states.len().saturating_sub(applied.changed.len()));
        if let (false, Some(peer)) = (applied.corrected.is_empty(), self.peers.get(&connection)) {
            let states = self.awareness.states(applied.corrected);
            peer.outbox.put(reply::awareness(states).into());
        }
        let is_told = !applied.changed.is_empty();
        if is_told {
            self.untold.extend(&applied.changed);
            self.tell_all(reply::awareness(self.awareness.states(applied.changed)));
            self.count_memory();
        }
        Ok(is_told)
    }

    /// Takes states of clients of the room's other participants, each of which counts as a
    /// connection. `wall_ms`: the time of day, and the least clock of a state: clients of
    /// y-websocket remember clocks from before this document was opened, and take only greater
    /// ones.
    pub(super) fn show_all(&mut self, changes: impl IntoIterator<Item = Change>, wall_ms: u64) {
        let mut changed = Vec::new();
        for Change { sender, client, json } in changes {
            let connection = PARTICIPANTS | u64::from(sender.0);
            let clock = self.awareness.states([client]).next().map_or(0, |state| state.clock);
            // A client that left keeps the clock of its last state. Receivers could not read a
            // clock above MAX_NUMBER.
            let next = wall_ms.max(clock + 1).min(MAX_NUMBER);
            let clock = if json.is_some() { next } else { clock };
            let state = State { client, clock, json: json.as_deref() };
            if let Ok(applied) = self.awareness.apply(connection, &[state]) {
                changed.extend(applied.changed);
            }
        }
        // A client that has moved to another participant is in the list twice.
        changed.dedup();
        if !changed.is_empty() {
            add(&self.counters.states, changed.len());
            self.tell_all(reply::awareness(self.awareness.states(changed)));
            self.count_memory();
        }
    }

    /// Takes the states that have to be sent to the room.
    pub(super) fn untold(&mut self) -> impl Iterator<Item = State<'_>> {
        let mut untold = mem::take(&mut self.untold);
        untold.sort_unstable();
        untold.dedup();
        self.awareness.states(untold)
    }

    /// The room has given an update its place. New content in it takes effect now, and is sent to
    /// all connections, also to its sender as the confirmation.
    pub(super) fn take_ordered(&mut self, update: Vec<u8>, waited: usize) {
        self.waiting = self.waiting.saturating_sub(waited);
        let news = Update::parse(&update).ok().and_then(|update| self.document.news(&update));
        match news {
            Some(news) => self.pass_on(news),
            None => add(&self.counters.repeats, 1),
        }
    }

    fn pass_on(&mut self, update: Vec<u8>) {
        add(&self.counters.updates, 1);
        add(&self.counters.update_bytes, update.len());
        self.tell_all(reply::update(&update));
        // This cannot fail: `take_ordered` has parsed the update.
        let _ = self.document.add(update);
        self.count_memory();
    }

    /// Answers a client that asked for the document.
    pub(super) fn answer(&self, connection: u64, rest: &[u8]) {
        if let Some(peer) = self.peers.get(&connection) {
            self.give(peer, reply::document(rest));
        }
    }

    /// A slow client was sent its whole outbox. Returns the state vector of what it was sent, if it
    /// has to catch up.
    pub(super) fn drained(&mut self, connection: u64) -> Option<StateVector> {
        self.peers.get_mut(&connection)?.behind.take()
    }

    /// Sends a client what it has missed.
    pub(super) fn catch_up(&self, connection: u64, rest: &[u8]) {
        let Some(peer) = self.peers.get(&connection) else { return };
        add(&self.counters.resyncs, 1);
        self.give(peer, reply::update(rest));
        self.give(peer, reply::awareness(self.awareness.all()));
    }

    /// Sends a message to one client alone, unless such messages and the documents take too much
    /// memory.
    fn give(&self, peer: &Peer, message: Vec<u8>) {
        match self.has_memory() {
            true => peer.outbox.put_own(message),
            false => peer.outbox.end(Ending::not_now(NO_MEMORY)),
        }
    }

    fn has_memory(&self) -> bool {
        self.counters.memory.load(Ordering::Relaxed) <= self.limits.memory_bytes
    }

    /// Closes a connection. It stays in `peers` until its task reports its end.
    pub(super) fn end(&self, connection: u64, ending: Ending) {
        if let Some(peer) = self.peers.get(&connection) {
            peer.outbox.end(ending);
        }
    }

    /// Closes all connections.
    pub(super) fn end_all(&self, ending: &Ending) {
        self.peers.values().for_each(|peer| peer.outbox.end(ending.clone()));
    }

    /// Puts a message into all outboxes. A client whose outbox is full gets the difference when it
    /// is empty.
    fn tell_all(&mut self, message: Vec<u8>) {
        let message = Bytes::from(message);
        let mut there = None;
        for peer in self.peers.values_mut().filter(|peer| peer.behind.is_none()) {
            if peer.outbox.put(message.clone()) {
                add(&self.counters.deliveries, 1);
                continue;
            }
            // The client has what the document has now: the update is added to the document later.
            let there = there.get_or_insert_with(|| self.document.state_vector());
            peer.behind = Some(there.clone());
            peer.outbox.tell_when_drained();
        }
    }

    /// Tells the counters how much memory [`SharedDocument`](super::room::SharedDocument) takes.
    pub(super) fn count_room(&mut self, bytes: usize) {
        if self.room_bytes != bytes {
            self.room_bytes = bytes;
            self.count_memory();
        }
    }

    /// Tells the counters how much memory the document takes.
    pub(super) fn count_memory(&mut self) {
        let now = self.document.memory() + self.awareness.memory() + self.waiting + self.room_bytes;
        self.counters.memory.fetch_add(now, Ordering::Relaxed);
        subtract(&self.counters.memory, self.counted);
        self.counted = now;
    }
}

impl Drop for OpenDocument {
    fn drop(&mut self) {
        subtract(&self.counters.memory, self.counted);
        subtract(&self.counters.connections, self.peers.len());
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt;
    use groupwire_session::ParticipantId;

    use super::super::outbox::{Next, Outgoing, outbox};
    use super::*;

    const ALL: Rights = Rights { may_write: true, may_be_seen: true };

    /// An update in which client 5 writes `length` bytes.
    fn written(clock: u64, length: usize) -> Vec<u8> {
        let number = |mut number: u64| {
            let mut bytes = Vec::new();
            while number > 0x7f {
                bytes.push(number as u8 | 0x80);
                number >>= 7;
            }
            bytes.push(number as u8);
            bytes
        };
        let (at, length) = (number(clock), (number(length as u64), vec![7; length]));
        [&[1, 1, 5], &at[..], &[3, 1, 1, b't'], &length.0, &length.1, &[0]].concat()
    }

    fn open() -> OpenDocument {
        OpenDocument::new(Document::default(), YjsLimits::default(), Arc::default())
    }

    fn join(open: &mut OpenDocument, connection: u64, rights: Rights) -> Outgoing {
        let (inbox, outgoing) = outbox(Arc::clone(&open.counters));
        open.join(connection, Peer::new(inbox, rights));
        outgoing
    }

    /// What a connection's task would do now.
    fn sent(outgoing: &Outgoing) -> Vec<Next> {
        std::iter::from_fn(|| outgoing.next().now_or_never()).collect()
    }

    fn message(bytes: Vec<u8>) -> Next {
        Next::Send(bytes.into())
    }

    fn write(open: &mut OpenDocument, connection: u64, clock: u64, length: usize) {
        match open.take(connection, &reply::update(&written(clock, length))) {
            Todo::Publish(update) => open.pass_on(update),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn the_largest_clock_of_a_client_that_has_left_leaves_states_readable() {
        let mut open = open();
        let reader = join(&mut open, 1, ALL);
        join(&mut open, 2, ALL);
        let largest = State { client: 9, clock: MAX_NUMBER, json: Some("1") };
        open.take(2, &reply::awareness([largest]));
        open.leave(2);
        sent(&reader);
        let here = |client| Change { sender: ParticipantId(3), client, json: Some("2".to_owned()) };
        open.show_all([here(9), here(10)], 5);
        let shown = sent(&reader);
        assert!(!shown.is_empty());
        for next in shown {
            let Next::Send(message) = next else { panic!("a message") };
            assert!(matches!(Message::parse(&message), Ok(Message::Awareness(_))));
        }
    }

    #[test]
    fn a_slow_reader_is_sent_the_difference_and_few_bytes_wait_for_it() {
        let mut open = open();
        let (fast, slow) = (join(&mut open, 1, ALL), join(&mut open, 2, ALL));
        for clock in 0..100 {
            write(&mut open, 1, clock, 20_000);
            sent(&fast);
        }
        let shown = |clock| reply::awareness([State { client: 9, clock, json: Some("1") }]);
        open.take(1, &shown(3));
        let mut waiting = sent(&slow);
        assert_eq!(waiting.pop(), Some(Next::Drained));
        let size = |next: &Next| if let Next::Send(message) = next { message.len() } else { 0 };
        let bytes: usize = waiting.iter().map(size).sum();
        assert!((400_000..600_000).contains(&bytes), "{bytes}");
        let there = open.drained(2).expect("it lacks something");
        assert_eq!(there.get(5) as usize, waiting.len() - 1, "beside the server's question");
        let rest = open.document.diff(&there);
        open.catch_up(2, &rest);
        assert!(sent(&slow) == [message(reply::update(&rest)), message(shown(3))]);
        write(&mut open, 1, 100, 1);
        assert_eq!(sent(&slow), [message(reply::update(&written(100, 1)))]);
        assert_eq!(Update::parse(&rest).unwrap().state_vector().get(5), 0, "not from the start");
        assert!(open.drained(2).is_none(), "it has everything");
        assert_eq!(open.counters.resyncs.load(Ordering::Relaxed), 1);
    }

    #[test]
    fn updates_that_wait_for_the_room_count_for_the_limit() {
        let mut open = open();
        open.limits.document_bytes = 1000;
        let ada = join(&mut open, 1, ALL);
        for clock in 0..2 {
            let todo = open.take(1, &reply::update(&written(clock, 400)));
            assert!(matches!(todo, Todo::Publish(_)));
        }
        assert_eq!(open.take(1, &reply::update(&written(2, 400))), Todo::Nothing);
        let Some(Next::End(ending)) = ada.next().now_or_never() else { panic!("it goes on") };
        assert_eq!(ending.code, 4413);
    }

    #[test]
    fn while_documents_take_too_much_memory_none_grows() {
        let mut open = open();
        let ada = join(&mut open, 1, ALL);
        open.limits.memory_bytes = 100;
        write(&mut open, 1, 0, 200);
        assert_eq!(open.take(1, &reply::update(&written(1, 1))), Todo::Nothing);
        let Some(Next::End(ending)) = ada.next().now_or_never() else { panic!("it goes on") };
        assert_eq!(ending.code, 4503);
        let bob = join(&mut open, 2, ALL);
        open.answer(2, &[0, 0]);
        let Some(Next::End(ending)) = bob.next().now_or_never() else { panic!("it is answered") };
        assert_eq!(ending.code, 4503);
    }

    #[test]
    fn states_of_the_rooms_participants_have_rising_clocks_and_belong_to_them() {
        let mut open = open();
        let ada = join(&mut open, 1, ALL);
        sent(&ada);
        let shown = |clock, json| message(reply::awareness([State { client: 9, clock, json }]));
        let change = |json: Option<&str>| {
            [Change { sender: ParticipantId(3), client: 9, json: json.map(str::to_owned) }]
        };
        open.show_all(change(Some("{}")), 0);
        open.show_all(change(Some("{}")), 2);
        assert_eq!(sent(&ada), [shown(1, Some("{}")), shown(2, Some("{}"))], "a renewal");
        open.take(1, &reply::awareness([State { client: 9, clock: 7, json: Some("1") }]));
        assert_eq!(sent(&ada), [], "it is not hers");
        open.show_all(change(None), 9);
        assert_eq!(sent(&ada), [shown(2, None)]);
        open.take(1, &reply::awareness([State { client: 9, clock: 7, json: Some("1") }]));
        assert_eq!(sent(&ada), [shown(7, Some("1"))]);
        assert_eq!(
            open.untold().collect::<Vec<_>>(),
            [State { client: 9, clock: 7, json: Some("1") }]
        );
        assert_eq!(open.untold().count(), 0);
    }

    #[test]
    fn what_is_counted_goes_with_the_document() {
        let mut open = open();
        let counters = Arc::clone(&open.counters);
        let ada = join(&mut open, 1, ALL);
        let bob = join(&mut open, 2, Rights { may_write: false, may_be_seen: false });
        write(&mut open, 1, 0, 1000);
        open.take(2, &reply::update(&written(1, 1)));
        open.take(1, &reply::update(&written(0, 1000)));
        open.take(2, &reply::awareness([State { client: 9, clock: 1, json: Some("1") }]));
        let figures = counters.figures(1);
        assert!(figures.memory > 1000 && figures.connections == 2, "{figures:?}");
        assert_eq!((figures.updates, figures.repeats, figures.forbidden), (1, 1, 1));
        assert_eq!((figures.states, figures.deliveries), (0, 2));
        open.leave(1);
        open.leave(1);
        assert_eq!(counters.figures(1).connections, 1);
        drop((open, ada, bob));
        let figures = counters.figures(0);
        assert_eq!((figures.memory, figures.connections), (0, 0));
    }
}
