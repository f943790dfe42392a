//! One program's copy of the shared data: the operations in the room's order, and on top of them
//! the pending operations: its own ones that are not ordered yet. It does no networking.
//!
//! When the server has lost the room, each copy remembers its state. The longest of these states
//! becomes the *base* of the room again, and the operations that the room has ordered meanwhile,
//! the *tail*, are applied on top of it once more ([`bases`]).

mod bases;
mod own;

use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use crate::effect::Effect;
use crate::json::{Json, MAX_SAFE, whole};
use crate::operation::{
    Action, Content, MAX_DEPTH, Operation, encode_claim, encode_pieces, is_name, length_of,
    stamp_of,
};
use crate::ordered::Ordered;
use crate::reducer::Reducer;
use crate::tables::{Malformed, Tables};
use crate::text::Text;

use bases::{Base, Bases, Entry};
pub(crate) use own::PartId;
use own::Pending;

/// How many authors' last operations are remembered, to recognise repeated operations. That is
/// enough for all programs that are or recently were in the room. Each author takes 30 bytes of a
/// snapshot.
const MAX_AUTHORS: usize = 1000;

/// How much greater than the author's last one the number of an operation may be. Programs count by
/// ones; but one that finds its own id in an operation of somebody else goes on after that number,
/// so that nobody may use up all numbers by a few operations.
const MAX_STEP: u64 = 1 << 32;

/// The greatest number in a base, for the same reason. A greater one counts as this one, so that
/// every state can become a base.
const MAX_NUMBER: u64 = 1 << 52;

/// The levels of a state: those of a value, and those around it.
const DEEPEST_STATE: usize = 2 * MAX_DEPTH;

/// A state without some reducer's actions counts less than one operation, so that a whole one wins.
const PARTIAL: f64 = 4_294_967_296.0;

pub(crate) struct Replica {
    pub(crate) author: Text,
    pub(crate) tables: Tables,
    /// Own operations that are not ordered, in their order.
    pending: Vec<Pending>,
    /// Own operations that are being made: more than one if the actions do not fit into one
    /// message.
    drafts: Vec<Pending>,
    /// The UTF-16 units of the last draft's actions.
    size: usize,
    /// The actions that undo own operations, as long as the history or a pending operation has
    /// them.
    parts: BTreeMap<PartId, Vec<Action>>,
    next_part: u64,
    /// The number of the last own operation.
    count: u64,
    /// The number of ordered operations.
    length: f64,
    /// The number of each author's last operation. The authors are in the order of their last
    /// operations.
    marks: Ordered<Text, u64>,
    bases: Bases,
    /// False if operations are missing.
    pub(crate) is_complete: bool,
    /// True once the room can no longer restore this program's whole state.
    pub(crate) has_lost: bool,
}

impl Replica {
    /// `author` is an id that no other program has.
    pub(crate) fn new(author: Text, reducers: BTreeMap<Text, Reducer>) -> Self {
        Replica {
            author,
            tables: Tables::new(reducers),
            pending: Vec::new(),
            drafts: Vec::new(),
            size: 0,
            parts: BTreeMap::new(),
            next_part: 0,
            count: 0,
            length: 0.0,
            marks: Ordered::default(),
            bases: Bases::default(),
            is_complete: true,
            has_lost: false,
        }
    }

    pub(crate) fn pending(&self) -> usize {
        self.pending.len()
    }

    /// The length of the remembered state; 0 if the room has it.
    pub(crate) fn remembered(&self) -> f64 {
        self.bases.remembered.as_ref().map_or(0.0, |base| base.length)
    }

    /// Applies own operations again that are not applied, on top of the ordered ones. Called before
    /// anything is read.
    pub(crate) fn refresh(&mut self) {
        // Own operations are taken back together, so if the last one is applied, all are.
        if self.pending.last().is_none_or(|own| own.effect.is_some()) {
            return;
        }
        for own in self.pending.iter_mut().filter(|own| own.effect.is_none()) {
            let mut effect = Effect::reversible();
            let stamp = stamp_of(&self.author, own.number);
            self.tables.apply(&own.actions, &stamp, None, &mut effect, 0);
            own.set_inverse(&mut self.parts, &effect);
            own.effect = Some(effect);
        }
    }

    /// Takes an operation at its place in the room's order. Returns it if it is new.
    pub(crate) fn deliver(&mut self, sender: u64, message: &str) -> Option<Operation> {
        let operation = Operation::parse(message).ok()?;
        let actions = match &operation.content {
            Content::Restore(piece) => {
                self.collect(&operation.author, piece);
                return Some(operation);
            }
            Content::Claim(_) => return Some(operation),
            Content::Actions(actions) => actions,
        };
        // An operation that comes again after a gap counts once.
        let is_new = self.is_next(&operation.author, operation.number);
        if is_new {
            self.order(sender, message, &operation, actions);
        }
        self.follow(Entry { participant: sender, text: Some(message.into()) });
        is_new.then_some(operation)
    }

    /// A participant has left the room for good.
    pub(crate) fn departed(&mut self, participant: u64) {
        self.roll_back();
        self.apply(&Entry { participant, text: None });
        self.follow(Entry { participant, text: None });
    }

    /// Drops the pending operations, which the room has refused.
    pub(crate) fn refuse(&mut self) {
        self.roll_back();
        for own in self.pending.drain(..) {
            if let Some(inverse) = self.parts.get_mut(&own.part) {
                inverse.clear();
            }
        }
    }

    /// The state for late joiners; `None` if this program's state is incomplete.
    pub(crate) fn snapshot(&mut self) -> Option<String> {
        self.roll_back();
        let is_whole = self.is_complete && !self.tables.is_partial;
        if !is_whole || self.bases.remembered.is_some() || self.bases.is_arriving() {
            return None;
        }
        let Some(tail) = &self.bases.tail else {
            return Some(format!("[{},{}]", Json::Number(self.length), self.encode()));
        };
        let tail: Json = tail.iter().map(Entry::encode).collect();
        let (length, state) = match &self.bases.base {
            Some(base) => (base.length, base.text.to_string_lossy()),
            None => (0.0, "0".into()),
        };
        Some(format!("[{},{state},{tail}]", Json::Number(length)))
    }

    /// Replaces the ordered operations by a snapshot of another participant. Returns false if it is
    /// malformed.
    pub(crate) fn load(&mut self, snapshot: &Text) -> bool {
        self.roll_back();
        if self.try_load(snapshot).is_err() {
            self.is_complete = false;
            return false;
        }
        self.is_complete = true;
        self.bases.stop_arriving();
        self.drop_ordered();
        self.settle_bases();
        true
    }

    /// The server has lost the room: this program remembers what it has.
    pub(crate) fn restart(&mut self) {
        self.roll_back();
        let length = if self.tables.is_partial { self.length / PARTIAL } else { self.length };
        if length > 0.0 && self.is_complete {
            self.bases.remembered = Some(Base { length, text: self.encode().into() });
        }
        self.tables.drop_holders();
        self.bases.restart();
    }

    /// An administrator has emptied the channel.
    pub(crate) fn clear(&mut self) {
        self.roll_back();
        self.bases.remembered = None;
        self.bases.restart();
        self.begin_empty();
        self.is_complete = true;
    }

    /// An operation that says how much this program remembers.
    pub(crate) fn claim(&mut self) -> String {
        self.count += 1;
        encode_claim(&self.author, self.count, self.remembered())
    }

    /// Operations that make the remembered state the base of the room.
    pub(crate) fn restore(&mut self) -> Vec<String> {
        let Some(Base { length, text }) = &self.bases.remembered else { return Vec::new() };
        let messages = encode_pieces(&self.author, self.count, *length, text);
        self.count += messages.len() as u64;
        messages
    }

    fn order(&mut self, sender: u64, message: &str, operation: &Operation, actions: &[Action]) {
        let is_own = operation.author == self.author;
        let is_applied = |own: &Pending| own.text == message && own.effect.is_some();
        if is_own && self.pending.first().is_some_and(is_applied) {
            // The operation is applied already, right after the ordered ones, and the pending ones
            // follow it.
            let own = self.pending.remove(0);
            self.note(operation);
            self.tables.settle(own.effect.into_iter().flat_map(|effect| effect.deleted));
            return self.tables.hold(actions, sender, &mut Effect::default());
        }
        self.roll_back();
        let effect = self.apply_operation(sender, operation);
        if !is_own {
            return;
        }
        if let Some(own) = self.pending.iter().find(|own| own.text == message) {
            if let Some(effect) = effect {
                own.set_inverse(&mut self.parts, &effect);
            }
            return self.drop_ordered();
        }
        for own in &mut self.pending {
            own.is_taken |= own.number <= operation.number;
        }
        self.count = self.count.max(operation.number);
    }

    /// Applies an entry to the ordered state.
    fn apply(&mut self, entry: &Entry) {
        match &entry.text {
            None => self.tables.departed(entry.participant, &mut Effect::default()),
            Some(text) => {
                if let Ok(operation) = Operation::parse_text(text) {
                    self.apply_operation(entry.participant, &operation);
                }
            }
        }
    }

    /// Applies an operation to the ordered state, if it is the next one of its author.
    fn apply_operation(&mut self, sender: u64, operation: &Operation) -> Option<Effect> {
        let Operation { author, number, content: Content::Actions(actions) } = operation else {
            return None;
        };
        if !self.is_next(author, *number) {
            return None;
        }
        self.note(operation);
        let mut effect = Effect::default();
        self.tables.apply(actions, &stamp_of(author, *number), Some(sender), &mut effect, 0);
        self.tables.settle(core::mem::take(&mut effect.deleted));
        Some(effect)
    }

    fn try_load(&mut self, snapshot: &Text) -> Result<(), Malformed> {
        let json = Json::parse_text(snapshot).map_err(|_| Malformed)?;
        let [length, state, rest @ ..] = json.as_array().ok_or(Malformed)? else {
            return Err(Malformed);
        };
        let length = length_of(length).ok_or(Malformed)?;
        let tail = rest.first().map(|tail| tail.as_array().ok_or(Malformed)).transpose()?;
        let base = match state.as_f64() {
            Some(0.0) => None,
            // A number that JSON lacks becomes `null` here, in every program.
            _ if state.is_flat(DEEPEST_STATE) => {
                Some(Base { length, text: state.to_string().into() })
            }
            _ => return Err(Malformed),
        };
        self.begin_with(base.as_ref(), if tail.is_some() { MAX_NUMBER } else { MAX_SAFE })?;
        let Some(tail) = tail else {
            self.bases.base = None;
            self.bases.tail = None;
            return Ok(());
        };
        self.tables.drop_holders();
        self.bases.base = base;
        self.bases.tail = Some(Vec::new());
        let mut entries = Vec::new();
        for entry in tail {
            let entry = Entry::decode(entry)?;
            self.apply(&entry);
            entries.push(entry);
        }
        self.bases.tail = Some(entries);
        Ok(())
    }

    /// Begins with a state, which keeps who holds locks and turns, or without one.
    /// Numbers of authors that are greater than `most` count as this one.
    fn begin_with(&mut self, base: Option<&Base>, most: u64) -> Result<(), Malformed> {
        let Some(Base { length, text }) = base else {
            self.begin_empty();
            return Ok(());
        };
        let state = Json::parse_text(text).map_err(|_| Malformed)?;
        if !state.is_within(DEEPEST_STATE) {
            return Err(Malformed);
        }
        let [tables, marks, ..] = state.as_array().ok_or(Malformed)? else { return Err(Malformed) };
        let marks = marks_of(marks)?;
        self.tables.decode(tables)?;
        self.marks = marks.into_iter().map(|(author, number)| (author, number.min(most))).collect();
        self.length = *length;
        Ok(())
    }

    fn begin_empty(&mut self) {
        let empty = Json::from_iter([Json::from(Vec::new()), Vec::new().into()]);
        let is_begun = self.tables.decode(&empty);
        debug_assert!(is_begun.is_ok(), "the empty state is well-formed");
        self.marks.clear();
        self.length = 0.0;
    }

    fn encode(&self) -> String {
        let marks = self
            .marks
            .iter()
            .map(|(author, number)| Json::from_iter([author.into(), whole(*number)]));
        Json::from_iter([self.tables.encode(), marks.collect()]).to_string()
    }

    /// The number of the author's last operation.
    fn mark(&self, author: &Text) -> u64 {
        self.marks.get(author).copied().unwrap_or(0)
    }

    /// True if an author's operation with this number has not been ordered yet, and can be the next
    /// one.
    fn is_next(&self, author: &Text, number: u64) -> bool {
        let mark = self.mark(author);
        number > mark && number - mark <= MAX_STEP
    }

    /// Remembers that an operation was ordered.
    fn note(&mut self, Operation { author, number, .. }: &Operation) {
        self.length = (self.length + 1.0).min(MAX_SAFE as f64);
        self.marks.remove(author);
        self.marks.insert(author.clone(), *number);
        if self.marks.len() > MAX_AUTHORS {
            self.marks.remove_first();
        }
    }

    /// Reverts the pending operations, so that the tables contain ordered operations only.
    fn roll_back(&mut self) {
        for own in self.pending.iter_mut().rev() {
            if let Some(effect) = own.effect.take() {
                self.tables.take_back(effect);
            }
        }
    }

    /// Removes operations from the pending ones that the ordered state contains.
    fn drop_ordered(&mut self) {
        let mark = self.mark(&self.author);
        self.pending.retain(|own| own.is_taken || own.number > mark);
        self.count = self.count.max(mark);
    }
}

/// The numbers of the authors' last operations, in the state of another program.
fn marks_of(json: &Json) -> Result<Vec<(Text, u64)>, Malformed> {
    let mark = |mark: &Json| {
        let Some([Json::Text(author), number, ..]) = mark.as_array() else { return Err(Malformed) };
        let number = number.as_count().filter(|_| is_name(author));
        Ok((author.clone(), number.ok_or(Malformed)?))
    };
    json.as_array().ok_or(Malformed)?.iter().map(mark).collect()
}
