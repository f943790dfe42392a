//! The expected view of all participants: the room's order and each sender's counts, built from the
//! events of all clients, and compared with the messages that were passed to `send`.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use groupwire_session::client::{Event, GapReason, Incoming, Outgoing, Status};
use groupwire_session::{Kind, Overflow, PresenceState, Qos, room, trace};

use crate::app::{App, Said, Taint, Whisper};
use crate::world::fnv;

/// A transaction at its place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Ordered {
    pub(crate) sender: u32,
    pub(crate) counter: u32,
    /// The index in [`Model::channels`].
    pub(crate) channel: usize,
    /// The hash of everything that has to arrive unchanged.
    pub(crate) content: u64,
    /// The participant that left, in the room's own entry about that.
    pub(crate) departed: Option<u32>,
}

pub(crate) struct Model {
    pub(crate) channels: Vec<Qos>,
    /// Selects the channels of the parts of the snapshot, see [`Model::part`].
    pub(crate) parting: u64,
    pub(crate) apps: Vec<App>,
    pub(crate) incarnation: u64,
    /// The room's numbers of channels, by the order in which it made them.
    numbers: Vec<usize>,
    /// The person behind each participant number of this incarnation.
    pub(crate) owners: BTreeMap<u32, usize>,
    /// The participants that are in the room, here or away.
    pub(crate) present: BTreeSet<u32>,
    pub(crate) order: BTreeMap<u64, Ordered>,
    /// The positions of direct transactions, with their tags (W114).
    pub(crate) whispered: BTreeMap<u64, u32>,
    /// When each participant joined for the first time.
    pub(crate) joined: BTreeMap<u32, Duration>,
    /// The participants that have left at some time.
    pub(crate) ever_left: BTreeSet<u32>,
    /// The number of direct transactions that came to their receivers.
    pub(crate) whispers: u64,
    /// The participants that left and have not come back.
    pub(crate) left: BTreeSet<u32>,
    placed: BTreeMap<(u32, u32), u64>,
    /// Awareness by sender, channel and index.
    pub(crate) spoken: BTreeMap<(u32, usize, u32), u64>,
    pub(crate) delivered: u64,
    /// Whether all have asked for all pages of participants.
    pub(crate) has_pages: bool,
    /// How often somebody was told the number of participants of a large room.
    pub(crate) counted: u64,
    /// The datagrams of fan-out groups, counted once for each receiver.
    pub(crate) shared: u64,
    /// The largest error of an age: jitter and stalls look like a longer path.
    pub(crate) doubt: Duration,
    /// By this much more an age may be too small: datagrams may wait and fall behind others, on
    /// both legs, without notice.
    pub(crate) unseen: Duration,
    /// True if nobody leaves and nothing breaks.
    pub(crate) is_calm: bool,
    /// True if all messages and events are printed.
    pub(crate) is_loud: bool,
}

impl Model {
    pub(crate) fn new(channels: Vec<Qos>, incarnation: u64) -> Self {
        Model {
            channels,
            parting: 0,
            apps: Vec::new(),
            incarnation,
            numbers: Vec::new(),
            owners: BTreeMap::new(),
            present: BTreeSet::new(),
            order: BTreeMap::new(),
            whispered: BTreeMap::new(),
            joined: BTreeMap::new(),
            ever_left: BTreeSet::new(),
            whispers: 0,
            left: BTreeSet::new(),
            placed: BTreeMap::new(),
            spoken: BTreeMap::new(),
            delivered: 0,
            has_pages: false,
            counted: 0,
            shared: 0,
            doubt: Duration::from_millis(400),
            unseen: Duration::from_millis(400),
            is_calm: false,
            is_loud: false,
        }
    }

    /// The room lost its state: numbers and order begin anew.
    pub(crate) fn restarted(&mut self, incarnation: u64) {
        self.incarnation = incarnation;
        self.numbers.clear();
        self.owners.clear();
        self.present.clear();
        self.order.clear();
        self.whispered.clear();
        self.joined.clear();
        self.ever_left.clear();
        self.left.clear();
        self.placed.clear();
        self.spoken.clear();
    }

    /// The client of a person accepted a message.
    pub(crate) fn said(&mut self, now: Duration, at: usize, channel: usize, message: Outgoing<'_>) {
        if self.is_loud {
            eprintln!("{now:?} {at} says on {channel}: {message:?}");
        }
        let qos = self.channels[channel];
        let content = content(channel, message.bytes, message.text, message.key, message.priority);
        let key = fnv(0, message.key.unwrap_or_default());
        let incarnation = self.incarnation;
        let app = &mut self.apps[at];
        if let Some(to) = message.to {
            let whisper = Whisper {
                to: to.participant.get(),
                channel,
                content,
                incarnation,
                at: now,
                confirmed: 0,
                came: 0,
                receipts: Vec::new(),
            };
            app.whispers.insert(to.tag, whisper);
            return;
        }
        let after = app.transactions.len();
        app.known.entry(content).or_default().push(app.said.len());
        if qos.kind == Kind::Transaction {
            app.transactions.push((channel, content));
        }
        app.said.push(Said { at: now, channel, key, content, after });
    }

    /// A mirror says whose client a participant is.
    pub(crate) fn seated(&mut self, participant: u32, owner: usize) {
        let before = self.owners.insert(participant, owner);
        let is_same = before.is_none_or(|before| before == owner);
        assert!(is_same, "law 2: participant {participant} is two people");
    }

    pub(crate) fn room_says(&mut self, now: Duration, event: &room::Event, owner: Option<usize>) {
        if self.is_loud {
            eprintln!("{now:?} the room says {event:?}");
        }
        match event {
            room::Event::Joined { participant, .. } => {
                self.joined.entry(participant.get()).or_insert(now);
                self.left.remove(&participant.get());
                self.present.insert(participant.get());
                let Some(owner) = owner else { return };
                let before = self.owners.insert(participant.get(), owner);
                let is_same = before.is_none_or(|before| before == owner);
                assert!(is_same, "law 2: participant {participant} is two people");
            }
            room::Event::Left { participant } => {
                self.left.insert(participant.get());
                self.ever_left.insert(participant.get());
                self.present.remove(&participant.get());
                if let Some(&owner) = self.owners.get(&participant.get()) {
                    self.apps[owner].fresh_since = now;
                }
            }
            room::Event::Channel { name, .. } => {
                // A garbled OPEN may have made a channel that no person asked for.
                self.numbers.push(name.parse().unwrap_or(usize::MAX));
            }
            _ => {}
        }
    }

    /// The channels of the part of the snapshot with this name: some of the first channels, which
    /// every application has.
    pub(crate) fn part(&self, name: &str) -> Vec<usize> {
        let transactions = |channel: &usize| self.channels[*channel].kind == Kind::Transaction;
        let all = (0..self.channels.len()).filter(transactions);
        match self.parting {
            // A part for each, one for all, one for every two, or none for the last.
            0 => all.filter(|channel| channel.to_string() == name).collect(),
            1 => all.collect(),
            2 => all
                .enumerate()
                .filter(|(nth, _)| (nth / 2).to_string() == name)
                .map(|(_, channel)| channel)
                .collect(),
            _ => all.filter(|&channel| channel < 2).collect(),
        }
    }

    /// The name of the part that a channel belongs to.
    pub(crate) fn part_of(&self, channel: usize) -> Option<String> {
        let transactions = |channel: &usize| self.channels[*channel].kind == Kind::Transaction;
        let nth = (0..channel).filter(transactions).count();
        let name = match self.parting {
            0 => channel.to_string(),
            2 => (nth / 2).to_string(),
            _ => "all".to_owned(),
        };
        (self.part(&name).contains(&channel)).then_some(name)
    }

    /// A client handed an event to its application. If the room wants a part of the snapshot,
    /// returns the part.
    pub(crate) fn tell(
        &mut self,
        now: Duration,
        at: usize,
        event: Event,
    ) -> Option<(String, u64, Vec<u8>)> {
        if self.is_loud {
            eprintln!("{now:?} {at} is told {event:?}");
        }
        let part = match &event {
            Event::Snapshot { part, .. } | Event::SnapshotWanted { part, .. } => self.part(part),
            _ => Vec::new(),
        };
        let app = &mut self.apps[at];
        match event {
            Event::Message(message) => {
                assert_eq!(message.to, None, "law 5: as if it were for all: {message:?}");
                self.deliver(now, at, &message);
            }
            Event::Direct(message) => {
                assert!(message.to.is_some(), "law 5: {message:?}");
                self.deliver(now, at, &message);
            }
            // A garbled part may have any content.
            Event::Snapshot { .. } if app.taint == Taint::Stream => {}
            Event::Snapshot { as_of, bytes, .. } => {
                let reads = part.iter().all(|channel| app.reads[*channel]);
                assert!(reads && !part.is_empty(), "law 5: person {at} is told the part {part:?}");
                app.take_part(&part, as_of.get(), &bytes);
            }
            Event::SnapshotWanted { part: name, as_of } => {
                let can = app.taint < Taint::Stream;
                return can.then(|| (name, as_of.get(), app.part(&part)));
            }
            Event::Gap { missing: Some((channel, position)), .. } => {
                let gap = app.gap.entry(app.channels[channel.0 as usize]).or_default();
                *gap = position.get().max(*gap);
            }
            Event::Gap { reason, uncertain, .. } => {
                app.uncertain += uncertain;
                if reason == GapReason::Incarnation {
                    app.forget();
                }
            }
            Event::Joined { participant, resumed } => {
                let participant = participant.get();
                if !resumed {
                    app.has_lost |= app.joined_at.is_some();
                    app.fresh_since = app.broke_at.unwrap_or(now);
                }
                app.participant = participant;
                app.everybody = true;
                app.joined_at.get_or_insert(now);
                let owner = self.owners.get(&participant);
                let is_own = owner == Some(&at) || self.apps[at].taint == Taint::Stream;
                assert!(is_own, "person {at} is told to be {participant}, who is {owner:?}");
            }
            Event::Receipt { channel, to, receipt } if app.taint < Taint::Stream => {
                let channel = app.channels[channel.0 as usize];
                let whisper = app.whispers.get_mut(&to.tag).expect("W116: what was never said");
                let is_it = (whisper.to, whisper.channel) == (to.participant.get(), channel);
                assert!(is_it, "W116: person {at}: {to:?} on {channel}, of {whisper:?}");
                whisper.receipts.push(receipt);
                assert_eq!(whisper.receipts.len(), 1, "W116: person {at}: {to:?}");
            }
            Event::Opened { channel, .. } => {
                let channel = app.channels[channel.0 as usize];
                app.opened_at[channel].get_or_insert(now);
            }
            Event::Closed { channel } => app.forget_values(app.channels[channel.0 as usize]),
            Event::Status(status) => {
                app.status = Some(status);
                match status {
                    Status::Reconnecting => _ = app.broke_at.get_or_insert(now),
                    Status::Connected => app.broke_at = None,
                    Status::Connecting | Status::Closed => {}
                }
            }
            Event::Participants { complete, changes } => {
                if complete {
                    app.people.clear();
                }
                for change in changes {
                    if change.state == PresenceState::Left {
                        app.people.remove(&change.id.get());
                        app.forget_sender(change.id.get());
                    } else {
                        let other = (change.state, change.user, change.presence);
                        app.people.insert(change.id.get(), other);
                    }
                }
            }
            Event::Count { count, everybody } => {
                (app.count, app.everybody) = (count, everybody);
                self.counted += u64::from(!everybody);
            }
            Event::Page { participants, last, .. } => {
                let page = participants.iter().map(|one| one.id.get());
                app.pages.0.extend(page);
                app.pages.1 |= last;
            }
            Event::Error { error, .. } => app.errors.push(error.to_string()),
            _ => {}
        }
        None
    }

    fn deliver(&mut self, now: Duration, at: usize, message: &Incoming) {
        self.delivered += 1;
        let app = &self.apps[at];
        if app.taint == Taint::Stream {
            return;
        }
        let channel = app.channels[message.channel.0 as usize];
        let Incoming { bytes, text, key, priority, sender, index, .. } = message;
        let (sender, index) = (&sender.get(), &index.get());
        let content = content(channel, bytes, *text, key.as_deref(), *priority);
        assert!(!text || std::str::from_utf8(bytes).is_ok(), "law 1: a text that is none");
        let reads = app.reads[channel];
        assert!(reads || message.own, "law 5: person {at} reads channel {channel}, unasked");
        if message.to.is_some() {
            return self.whisper(at, channel, content, message);
        }
        if let Some(departed) = message.departed {
            return self.departed(at, channel, departed.get(), message);
        }
        let owner = self.owners.get(sender).copied();
        if owner.is_none() && app.taint == Taint::Datagrams && message.position.get() == 0 {
            // A damaged datagram may name anybody.
            return;
        }
        let owner = owner.unwrap_or_else(|| panic!("law 2: a message of {sender}, who is nobody"));
        // Own transactions come whole where they are the history of a channel that was opened late
        // (W18).
        let is_own = message.own || *sender == app.participant;
        let is_known = is_own || app.people.contains_key(sender);
        assert!(
            is_known || app.everybody || !self.present.contains(sender),
            "law 7: person {at} does not know {sender}, the sender of {message:?}"
        );
        let known = self.apps[owner].known.get(&content).map(Vec::as_slice).unwrap_or_default();
        let is_garbled = self.apps[owner].taint == Taint::Stream
            || (self.apps[owner].taint == Taint::Datagrams && message.position.get() == 0)
            || (app.taint == Taint::Datagrams && message.position.get() == 0);
        assert!(
            is_garbled || !known.is_empty(),
            "law 1: person {at} was told what person {owner} never said on {channel}: {message:?}"
        );
        let said = match known {
            // Equal messages cannot be told apart.
            [said] => Some(self.apps[owner].said[*said]),
            _ => None,
        };
        if let Some(said) = said {
            let age = now.saturating_sub(said.at) + Duration::from_millis(8);
            let is_sound = message.own || message.age <= age + self.doubt;
            assert!(is_sound || is_garbled, "W25: age {:?} of at most {age:?}", message.age);
            let is_sound = message.own || message.age + self.doubt + self.unseen >= age;
            assert!(is_sound || is_garbled, "W25: age {:?} of at least {age:?}", message.age);
            if self.is_calm && !message.own {
                self.past_is_state(at, channel, message, said);
            }
            // A message waits at its sender up to its deadline, as long in the room, and somewhat
            // on its way; a group's payload that was lost comes again up to two seconds later
            // (W74).
            let qos = &self.channels[channel];
            if let (Overflow::Aggregate, Some(deadline)) = (qos.overflow, qos.deadline) {
                let most = deadline * 2 + self.doubt + Duration::from_secs(2);
                assert!(age <= most, "W15: {age:?} old, with a deadline of {deadline:?}");
            }
        }
        if message.position.get() > 0 || message.own {
            let (sender, counter) = (*sender, *index);
            let ordered = Ordered { sender, counter, channel, content, departed: None };
            return self.transaction(at, ordered, message, said);
        }
        if is_garbled {
            return;
        }
        assert_ne!(*sender, app.participant, "W62, W70: person {at} was told its own: {message:?}");
        let spoken = self.spoken.entry((*sender, channel, *index)).or_insert(content);
        assert_eq!(*spoken, content, "law 1: one index, two messages: {message:?}");
        assert!(
            is_known,
            "W31, W104: person {at} was given awareness of {sender}, who left or is not announced: {message:?}"
        );
        self.awareness(at, channel, content, message, said);
    }

    /// Law 5, W114: only the receiver gets it, once, at the same position as its sender; no other
    /// transaction has that position.
    fn whisper(&mut self, at: usize, channel: usize, content: u64, message: &Incoming) {
        let Incoming { sender, bytes, position, own, to, .. } = message;
        let to = to.map_or(0, |to| to.get());
        let said = std::str::from_utf8(bytes).ok().and_then(|text| text.split(' ').nth(1));
        let tag = said.and_then(|tag| tag.parse::<u32>().ok()).unwrap_or_default();
        let owner = if *own { Some(at) } else { self.owners.get(&sender.get()).copied() };
        let owner = owner.unwrap_or_else(|| panic!("W114: {message:?} is of nobody"));
        if self.apps[owner].taint == Taint::Stream {
            return;
        }
        let is_for = *own || to == self.apps[at].participant;
        assert!(is_for, "law 5: person {at} is told what is for {to}: {message:?}");
        let has_lost = self.apps[owner].has_lost;
        let whisper = self.apps[owner].whispers.get_mut(&tag);
        let whisper = whisper.unwrap_or_else(|| panic!("law 1: never said: {message:?}"));
        let is_it = (whisper.to, whisper.channel, whisper.content) == (to, channel, content);
        assert!(is_it, "law 1: {message:?} of {whisper:?}");
        let count = if *own { &mut whisper.confirmed } else { &mut whisper.came };
        *count += 1;
        // What a lost session may have ordered is sent again (W14).
        let may_come_again = has_lost && !own;
        assert!(*count == 1 || may_come_again, "law 2: person {at} is told twice: {message:?}");
        self.whispers += u64::from(!own);
        let position = position.get();
        if position > 0 {
            let first = *self.whispered.entry(position).or_insert(tag);
            assert_eq!(first, tag, "law 2: two transactions at {position}");
            let app = &mut self.apps[at];
            // A direct transaction to its own sender comes twice.
            let is_twice = position == app.position && to == app.participant;
            let goes_on = position > app.position || is_twice;
            assert!(goes_on, "law 2: {position} after {}", app.position);
            app.position = position;
        }
    }

    /// W113: the room's own entry that a participant left.
    fn departed(&mut self, at: usize, channel: usize, departed: u32, message: &Incoming) {
        let Incoming { sender, index, bytes, .. } = message;
        let is_sound = sender.get() == 0 && bytes.is_empty() && message.position.get() > 0;
        assert!(is_sound && self.channels[channel].departures, "W113: person {at}: {message:?}");
        let (sender, counter) = (sender.get(), index.get());
        let content = fnv(u64::from(departed), b"departed");
        let departed = Some(departed);
        let ordered = Ordered { sender, counter, channel, content, departed };
        self.transaction(at, ordered, message, None);
    }

    /// W18, W19, W31: messages from long before a person joined are state to it, and only the
    /// newest values and transactions are sent. Messages from long after it opened the channel are
    /// not state.
    fn past_is_state(&self, at: usize, channel: usize, message: &Incoming, said: Said) {
        let Some(joined) = self.apps[at].joined_at else { return };
        let is_past = said.at + Duration::from_secs(1) < joined;
        let opened = self.apps[at].opened_at[channel].unwrap_or(joined);
        let is_news = said.at > opened + Duration::from_secs(1);
        let is_right = if message.state { !is_news } else { !is_past };
        assert!(is_right, "W19: person {at}, who joined at {joined:?}, and {said:?}: {message:?}");
        let qos = &self.channels[channel];
        let is_passing = qos.kind == Kind::Awareness && qos.overflow == Overflow::Aggregate;
        assert!(!(is_past && is_passing), "W31: person {at} was told what is over: {message:?}");
    }

    /// Law 2: all persons see one order, and each transaction has one place in it.
    fn transaction(&mut self, at: usize, ordered: Ordered, message: &Incoming, said: Option<Said>) {
        let app = &mut self.apps[at];
        if message.own {
            let settled = app.settled.entry(ordered.channel).or_default();
            let mut due =
                app.transactions.iter().filter(|(channel, _)| *channel == ordered.channel);
            let due = due.nth(*settled).map(|(_, content)| *content);
            assert_eq!(due, Some(ordered.content), "law 2: person {at}'s own, out of turn");
            *settled += 1;
            let position = message.position.get();
            if position == 0 {
                app.unplaced.insert((ordered.channel, ordered.content));
                return;
            }
            let before = app.document.insert(position, (ordered.channel, place(&ordered)));
            assert!(before.is_none(), "law 2: person {at} was told of {position} twice");
            assert!(position > app.position, "law 2: own {position} after {}", app.position);
            app.position = position;
            return self.takes_place(position, ordered);
        }
        let (least, most) = app.heard_of.entry(ordered.sender).or_default();
        *least = (*least).max(said.map_or(0, |said| said.after + 1));
        *most = (*most).max(said.map_or(usize::MAX, |said| said.after + 1));
        let position = message.position.get();
        if position > app.position {
            app.position = position;
        } else {
            let filled = app.filled.insert(ordered.channel, position).unwrap_or(0);
            assert!(message.state, "law 2: position {position} after {}", app.position);
            assert!(filled < position, "law 2: {position} after {filled} of a late channel");
        }
        let covered = app.covered.get(&ordered.channel).copied().unwrap_or(0);
        assert!(position > covered, "W32: {position}, which a part of {covered} stands for");
        let before = app.document.insert(position, (ordered.channel, place(&ordered)));
        assert!(before.is_none(), "law 2: person {at} was told of {position} twice");
        self.takes_place(position, ordered);
    }

    fn takes_place(&mut self, position: u64, ordered: Ordered) {
        let first = self.order.entry(position).or_insert(ordered);
        assert_eq!(*first, ordered, "law 2: two transactions at {position}");
        let once = *self.placed.entry((ordered.sender, ordered.counter)).or_insert(position);
        assert_eq!(once, position, "law 2: {ordered:?} has two places");
    }

    /// No message comes twice, no older value of a key after a newer one, and overtaken messages
    /// are marked.
    fn awareness(
        &mut self,
        at: usize,
        channel: usize,
        content: u64,
        message: &Incoming,
        said: Option<Said>,
    ) {
        let conflates = self.channels[channel].overflow == Overflow::Conflate;
        let Incoming { sender, index, .. } = message;
        let (sender, index) = (&sender.get(), &index.get());
        let app = &mut self.apps[at];
        if conflates {
            let key = fnv(0, message.key.as_deref().unwrap_or_default());
            let newest = app.newest.insert((*sender, channel, key), (*index, content));
            let goes_on = newest.is_none_or(|(newest, _)| newest < *index);
            assert!(goes_on, "person {at} saw {sender} go back on {channel}: {newest:?}, {index}");
        } else {
            let is_new = app.came.insert((*sender, channel, *index));
            assert!(is_new, "person {at} was told {index} of {sender} on {channel} twice");
        }
        if let Some(said) = said {
            let (least, most) = app.heard_of.get(sender).copied().unwrap_or_default();
            let is_right = if message.stale { most > said.after } else { least <= said.after };
            assert!(
                is_right || app.taint != Taint::None,
                "W24: person {at}, {sender} on {channel}: stale {}, after {} of {least} to {most}",
                message.stale,
                said.after
            );
        }
    }

    /// Law 5: packets have only messages of channels that their receivers opened, and shared
    /// payloads none of private channels.
    pub(crate) fn trace(&mut self, packet: &trace::Packet) {
        self.shared +=
            u64::from(packet.group.is_some() && packet.carrier == trace::Carrier::Datagrams);
        let Some(&owner) = self.owners.get(&packet.participant.get()) else { return };
        let app = &self.apps[owner];
        if !packet.is_outgoing || app.taint == Taint::Stream {
            return;
        }
        for part in &packet.parts {
            // 0 is a part of the room's snapshot.
            let Some(number) = (part.channel.get() as usize).checked_sub(1) else { continue };
            let Some(&channel) = self.numbers.get(number) else { continue };
            let Some(qos) = self.channels.get(channel) else { continue };
            let is_own = part.sender == packet.participant;
            assert!(app.reads[channel] || is_own, "law 5: {channel} to person {owner}: {packet:?}");
            let shared = packet.group.is_some() && qos.private;
            assert!(!shared, "law 5: the private channel {channel} in a shared body: {packet:?}");
        }
    }
}

/// The hash by which documents remember a transaction: another participant's transaction has
/// another hash.
pub(crate) fn place(ordered: &Ordered) -> u64 {
    let Ordered { sender, counter, channel, content, .. } = ordered;
    fnv(
        content ^ (u64::from(*sender) << 32),
        &[&counter.to_le_bytes()[..], &[*channel as u8]].concat(),
    )
}

/// All of a message that has to arrive as it was sent (law 1).
fn content(
    channel: usize,
    bytes: &[u8],
    text: bool,
    key: Option<&[u8]>,
    priority: Option<u8>,
) -> u64 {
    let flags = [channel as u8, u8::from(text), u8::from(key.is_some()), priority.unwrap_or(0)];
    fnv(fnv(fnv(u64::from(priority.is_some()), &flags), key.unwrap_or_default()), bytes)
}
