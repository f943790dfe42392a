//! Shared data in a room: connects a program's copy with the room's channels.

use alloc::collections::{BTreeMap, VecDeque};
use alloc::string::String;
use alloc::vec::Vec;

use crate::claims::Claims;
use crate::error::Error;
use crate::event::{Event, Gap, Input, Lost, told};
use crate::history::{Direction, History, Step};
use crate::json::{Json, Object};
use crate::link::{Definitions, Link, Taken};
use crate::operation::{Action, Content, Operation, is_name};
use crate::previews::Previews;
use crate::replica::Replica;
use crate::schema::Schema;
use crate::tables::{Changes, Tables};
use crate::text::Text;

/// The longest name of data, in UTF-16 units.
const MAX_DATA_NAME: usize = 64;

/// Shared data of a room, as one program has it.
///
/// It does no networking, and has no clock. Pass what happens in the room to
/// [`handle_input`](Shared::handle_input), then call [`poll_event`](Shared::poll_event) until it
/// returns `None`; do so after own changes, too. Messages go out through the [`Link`].
///
/// ```
/// use groupwire_shared::{Definitions, Input, Json, Link, Shared, Taken};
///
/// /// A room that has this program alone.
/// #[derive(Default)]
/// struct Alone(Vec<String>);
///
/// impl Link for Alone {
///     type Error = std::convert::Infallible;
///     fn send(&mut self, operation: &str) -> Result<Taken, Self::Error> {
///         self.0.push(operation.to_owned());
///         Ok(Taken::Yes)
///     }
///     fn preview(&mut self, _key: &str, _text: &str) {}
/// }
///
/// let mut data = Shared::new("me", Definitions::new(), Alone::default());
/// data.map("shapes").set("a", Json::object([("x", 1.into())]))?;
/// data.counter("moves").add(1)?;
/// assert_eq!(data.pending(), 2);
///
/// let sent = std::mem::take(&mut data.link_mut().0);
/// assert_eq!(sent, [r#"["me",1,"shapes","s","a",{"x":1}]"#, r#"["me",2,"moves","+",1]"#]);
/// for text in &sent {
///     data.handle_input(Input::Message { sender: 1, text: Some(text) });
/// }
/// while let Some(event) = data.poll_event() {
///     println!("{event:?}");
/// }
/// assert_eq!((data.pending(), data.counter("moves").value()), (0, 1));
/// data.undo()?;
/// assert_eq!(data.counter("moves").value(), 0);
/// # Ok::<(), groupwire_shared::Error<std::convert::Infallible>>(())
/// ```
pub struct Shared<L> {
    pub(crate) replica: Replica,
    pub(crate) schemas: BTreeMap<Text, Schema>,
    history: History,
    pub(crate) previews: Previews,
    claims: Claims,
    has_restored: bool,
    link: L,
    /// Operations that the room did not take yet.
    outbox: VecDeque<String>,
    pub(crate) is_batch: bool,
    events: VecDeque<Event>,
    /// True if [`Event::Changed`] is due.
    has_news: bool,
    /// `is_complete` and `is_restoring` as the application was last told.
    told: (bool, bool),
    me: Option<u64>,
    others: BTreeMap<u64, bool>,
    is_connected: bool,
}

impl<L: Link> Shared<L> {
    /// Opens shared data. `author` is an id that no other program in the room has or ever had, of
    /// at most 128 characters: a random one, unless the program keeps its own. A longer one is cut.
    pub fn new(author: &str, definitions: Definitions, link: L) -> Self {
        let mut author = Text::from(author);
        if !is_name(&author) {
            author = crate::text::of_units(author.units().take(crate::operation::MAX_NAME));
        }
        Shared {
            replica: Replica::new(author, definitions.reducers),
            schemas: definitions.schemas,
            history: History::default(),
            previews: Previews::default(),
            claims: Claims::default(),
            has_restored: false,
            link,
            outbox: VecDeque::new(),
            is_batch: false,
            events: VecDeque::new(),
            has_news: false,
            told: (true, false),
            me: None,
            others: BTreeMap::new(),
            is_connected: false,
        }
    }

    /// The id of this program among the authors of operations.
    pub fn author(&self) -> &Text {
        &self.replica.author
    }

    /// This participant; `None` before it has joined.
    pub fn me(&self) -> Option<u64> {
        self.me
    }

    /// False if something is missing ([`Event::Lost`]).
    pub fn is_complete(&self) -> bool {
        self.replica.is_complete
    }

    /// True after the server has lost the room, until the room has all of this program's state
    /// again.
    pub fn is_restoring(&self) -> bool {
        self.replica.remembered() > 0.0
    }

    /// The number of own operations that are not ordered. They are applied already.
    pub fn pending(&self) -> usize {
        self.replica.pending()
    }

    /// True if there is an own operation that [`undo`](Self::undo) may undo.
    pub fn can_undo(&self) -> bool {
        self.history.can(Direction::Undo)
    }

    /// True if there is an own operation that [`redo`](Self::redo) may redo.
    pub fn can_redo(&self) -> bool {
        self.history.can(Direction::Redo)
    }

    /// Undoes the last own operation that others have not overwritten. Returns false if there is
    /// none, and within a batch.
    ///
    /// # Errors
    /// The operation cannot be sent.
    pub fn undo(&mut self) -> Result<bool, Error<L::Error>> {
        self.reverse(Direction::Undo)
    }

    /// Does again what [`undo`](Self::undo) has undone. Returns false if there is nothing.
    ///
    /// # Errors
    /// The operation cannot be sent.
    pub fn redo(&mut self) -> Result<bool, Error<L::Error>> {
        self.reverse(Direction::Redo)
    }

    /// Takes what happened in the room.
    pub fn handle_input(&mut self, input: Input<'_>) {
        self.abort_batch();
        match input {
            Input::Message { sender, text } => {
                text.into_iter().for_each(|text| self.deliver(sender, text));
            }
            Input::Departed(participant) => self.replica.departed(participant),
            Input::Preview { is_stale: true, .. } => {}
            Input::Preview { sender, key, text, is_stale: false } => {
                self.previews.receive(sender, &key.into(), text, &mut self.replica.tables.changes);
            }
            Input::Snapshot(bytes) => {
                let text = String::from_utf8_lossy(bytes);
                let text = text.strip_prefix('\u{feff}').unwrap_or(&text);
                if !self.replica.load(&text.into()) {
                    self.events.push_back(Event::Lost(Lost::Snapshot));
                }
            }
            Input::Gap(gap) => self.gap(gap),
            Input::Synced => {
                if self.is_restoring() {
                    let claim = self.replica.claim();
                    // If this participant may not publish, others can restore the state.
                    let _ = self.send(claim);
                }
            }
            Input::Participants { me, others, is_connected } => {
                self.others.clone_from(others);
                (self.me, self.is_connected) = (me, is_connected);
                let is_here = |id| others.get(&id) == Some(&true);
                self.previews.keep(is_here, &mut self.replica.tables.changes);
                self.restore();
            }
            Input::Drain => self.flush(),
            Input::Unconfirmed(count) => {
                self.send_again();
                // The room does not take the others, for example because this participant may not
                // publish.
                if count == 0 && self.outbox.is_empty() && self.pending() > 0 {
                    self.replica.refuse();
                    self.has_news = true;
                }
            }
        }
        self.tell_lost();
        let state = (self.is_complete(), self.is_restoring());
        self.has_news |= state != self.told;
        self.told = state;
    }

    /// What the application has to be told next; `None` until something happens. Call it until it
    /// returns `None` after inputs and own changes: it also sends own operations again if others
    /// have used their numbers.
    pub fn poll_event(&mut self) -> Option<Event> {
        if let Some(event) = self.events.pop_front() {
            return Some(event);
        }
        if self.is_batch || !self.has_news && self.replica.tables.changes.is_empty() {
            return None;
        }
        self.send_again();
        self.replica.refresh();
        self.has_news = false;
        let changes: Changes = core::mem::take(&mut self.replica.tables.changes);
        Some(Event::Changed(told(&changes)))
    }

    /// The state for late joiners; `None` if this program cannot make one. It has the effect of all
    /// inputs so far.
    pub fn snapshot(&mut self) -> Option<String> {
        if self.is_batch { None } else { self.replica.snapshot() }
    }

    /// All tables, with own operations applied, for tests that compare implementations.
    #[doc(hidden)]
    pub fn state(&mut self) -> Json {
        self.tables().encode()
    }

    /// The room's channels.
    pub fn link(&self) -> &L {
        &self.link
    }

    /// The room's channels.
    pub fn link_mut(&mut self) -> &mut L {
        &mut self.link
    }

    /// The tables, with own operations applied.
    pub(crate) fn tables(&mut self) -> &Tables {
        if !self.is_batch {
            self.replica.refresh();
        }
        &self.replica.tables
    }

    /// Sends an operation, or adds to the batch that is being made.
    pub(crate) fn perform(&mut self, action: Action) -> Result<(), Error<L::Error>> {
        let name = action.name();
        let is_named = !name.bytes().is_empty()
            && name.is_within(MAX_DATA_NAME)
            && !name.bytes().contains(&b'/');
        if !is_named {
            return Err(Error::Name { name: (&name).into() });
        }
        if let Some(key) = action.key() {
            self.previews.performed(&name, key);
        }
        if self.is_batch {
            return self.replica.act(action);
        }
        let step = self.make([action], false)?;
        self.remember(step);
        Ok(())
    }

    /// Shows others an unfinished change of a value, or ends it.
    pub(crate) fn preview(&mut self, name: &Text, key: &Text, fields: Option<&Object>) {
        let message = self.previews.send(name, key, fields);
        // A preview that cannot be received now is of no use later.
        if let (Some((key, text)), true, false) =
            (message, self.is_connected, self.others.is_empty())
        {
            self.link.preview(&key.to_string_lossy(), &text);
        }
    }

    fn deliver(&mut self, sender: u64, text: &str) {
        let operation = self.replica.deliver(sender, text);
        self.tell_lost();
        let Some(Operation { author, content, .. }) = operation else { return };
        let is_own = author == self.replica.author;
        self.has_news |= is_own;
        match content {
            Content::Claim(length) => {
                if self.claims.take(sender, is_own, length) {
                    self.restore();
                }
            }
            Content::Restore(_) => {}
            Content::Actions(actions) => {
                let changes: Vec<_> =
                    actions.iter().map(|action| (action.name(), action.key().cloned())).collect();
                for (name, key) in &changes {
                    if let Some(key) = key {
                        self.previews.ordered(sender, name, key, &mut self.replica.tables.changes);
                    }
                }
                self.events.push_back(Event::Operation { sender, changes });
            }
        }
    }

    fn gap(&mut self, gap: Gap) {
        match gap {
            Gap::Incarnation => {
                // After this gap the ids may belong to other participants.
                self.previews.keep(|_| false, &mut self.replica.tables.changes);
                self.replica.restart();
                self.claims.clear();
                self.has_restored = false;
            }
            Gap::Reset => self.replica.clear(),
            Gap::History => {
                self.replica.is_complete = false;
                self.events.push_back(Event::Lost(Lost::History));
            }
        }
    }

    /// Sends the remembered state if this program's claim is the one that counts.
    fn restore(&mut self) {
        let remembered = self.replica.remembered();
        let is_here = |id| Some(id) == self.me || self.others.get(&id) == Some(&true);
        if self.has_restored || remembered == 0.0 || !self.claims.is_first(remembered, is_here) {
            return;
        }
        self.has_restored = true;
        for message in self.replica.restore() {
            if self.send(message).is_err() {
                return;
            }
        }
    }

    fn reverse(&mut self, direction: Direction) -> Result<bool, Error<L::Error>> {
        if self.is_batch {
            return Ok(false);
        }
        // What undoes pending operations depends on the operations that were ordered before them.
        self.replica.refresh();
        while let Some(step) = self.history.take(direction) {
            let actions: Vec<Action> =
                step.iter().rev().flat_map(|part| self.replica.inverse(*part)).cloned().collect();
            self.replica.forget(&step);
            let reverse = self.make(actions, true)?;
            // A step without an effect is left out: others have changed the same values since.
            if !reverse.is_empty() {
                self.history.keep(direction, reverse);
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Makes an operation of actions. With `vain`, an operation that would change nothing is not
    /// made, and nothing is returned.
    fn make(
        &mut self,
        actions: impl IntoIterator<Item = Action>,
        vain: bool,
    ) -> Result<Step, Error<L::Error>> {
        self.replica.begin();
        for action in actions {
            if let Err(error) = self.replica.act(action) {
                self.replica.abort();
                return Err(error);
            }
        }
        if !vain || self.replica.has_changed() {
            return self.commit();
        }
        self.replica.abort();
        Ok(Step::new())
    }

    pub(crate) fn commit(&mut self) -> Result<Step, Error<L::Error>> {
        self.has_news = true;
        let Shared { replica, outbox, link, .. } = self;
        replica.commit(|text| offer(link, outbox, text.into()))
    }

    pub(crate) fn remember(&mut self, step: Step) {
        if step.iter().any(|part| !self.replica.inverse(*part).is_empty()) {
            self.history.add(step, &mut self.replica);
        } else {
            self.replica.forget(&step);
        }
    }

    fn send(&mut self, text: String) -> Result<(), L::Error> {
        offer(&mut self.link, &mut self.outbox, text)
    }

    /// Sends own operations again whose numbers somebody else has used.
    fn send_again(&mut self) {
        for text in self.replica.renumbered() {
            if self.send(text).is_err() {
                // This participant may not publish any more: the operations are taken back.
                return;
            }
        }
    }

    fn flush(&mut self) {
        while let Some(text) = self.outbox.front() {
            match self.link.send(text) {
                Ok(Taken::Yes) => drop(self.outbox.pop_front()),
                Ok(Taken::NotNow) => return,
                // This participant may not publish now.
                Err(_) => return,
            }
        }
    }

    fn tell_lost(&mut self) {
        if core::mem::take(&mut self.replica.has_lost) {
            self.events.push_back(Event::Lost(Lost::Restart));
        }
    }
}

/// Sends a message, or keeps it for later.
fn offer<L: Link>(
    link: &mut L,
    outbox: &mut VecDeque<String>,
    text: String,
) -> Result<(), L::Error> {
    if !outbox.is_empty() || link.send(&text)? == Taken::NotNow {
        outbox.push_back(text);
    }
    Ok(())
}

/// True if JSON carries a value as it is.
pub(crate) fn check_json<E>(name: &Text, value: &Json) -> Result<(), Error<E>> {
    if value.is_within(crate::operation::MAX_DEPTH) && value.is_well_formed() {
        return Ok(());
    }
    let name = name.into();
    if value.is_flat(crate::operation::MAX_DEPTH) {
        Err(Error::NotJson { name })
    } else {
        Err(Error::TooDeep { name, limit: crate::operation::MAX_DEPTH })
    }
}
