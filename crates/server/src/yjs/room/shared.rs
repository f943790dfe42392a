//! The messages between a document's task and the room of the same name: updates on one channel and
//! awareness on another, as `groupwire-yjs` in `web/yjs` sends them.

use std::collections::{BTreeSet, VecDeque};
use std::sync::Arc;

use groupwire_session::client::{ChannelId, Event, GapReason, Incoming, Outgoing, Sent};
use groupwire_session::{Durability, Error, Kind, ParticipantId, Position, PresenceState, Qos};
use groupwire_yjs::{Control, Pieces, StateVector, Update};

use super::claims::Claims;
use super::fields::{Change, Others, Own};
use super::member::Member;
use crate::rooms::directory::Directory;
use crate::rooms::refused::NotJoined;
use crate::yjs::channels::{AWARENESS, DOCUMENT};
use crate::yjs::ending::Ending;

/// The largest message of a room in memory, and of a stored one.
const MAX_MESSAGE: usize = 60_000;
const MAX_STORED: usize = groupwire_session::limits::MAX_TRANSACTION;

/// See the [module](self).
pub(in crate::yjs) struct SharedDocument {
    member: Member,
    document: ChannelId,
    awareness: ChannelId,
    pieces: Pieces,
    claims: Claims,
    own: Own,
    others: Others,
    /// Clients whose state may have changed since the last review.
    changed: BTreeSet<u64>,
    /// Messages of the document that the client has not taken yet, and whether they are texts.
    unsent: VecDeque<(Vec<u8>, bool)>,
    /// For each own update on its way through the room, in order: its bytes in
    /// `OpenDocument::waiting`.
    under_way: VecDeque<usize>,
    series: u64,
    /// True once everything has arrived that the room had when it was joined.
    is_synced: bool,
    /// True if the document has some content.
    has_content: bool,
    /// False if something that the room no longer has never arrived here.
    is_complete: bool,
    /// True if the room has an update that cannot be read here. Clients with a later version of Yjs
    /// may know it.
    has_unread: bool,
}

/// What the document's task has to do.
pub(in crate::yjs) enum News {
    /// The room has given an update its place: it takes effect now.
    Update { update: Vec<u8>, waited: usize },
    /// States of clients of other participants have changed.
    States(Vec<Change>),
    /// The room wants a snapshot, which begins with `begun`: answer with
    /// [`SharedDocument::snapshot`].
    SnapshotWanted { as_of: Position, begun: Vec<u8> },
    /// This end leads: it has to send what askers with this state vector lack. Answer with
    /// [`SharedDocument::answer`].
    Lead(StateVector),
    /// The room no longer has what this end lacks: ask with [`SharedDocument::ask`].
    Lacking,
}

impl SharedDocument {
    /// Joins the room of this name.
    pub(in crate::yjs) fn join(rooms: Arc<Directory>, name: &str) -> Result<Self, Error> {
        let mut member = Member::new(rooms, name)?;
        let client = member.client_mut();
        let document = client.channel(DOCUMENT, Qos::transaction().departures())?;
        let awareness = client.channel(AWARENESS, Qos::awareness().rate(0, 25))?;
        client.provide(DOCUMENT, &[document])?;
        Ok(SharedDocument {
            member,
            document,
            awareness,
            pieces: Pieces::default(),
            claims: Claims::default(),
            own: Own::default(),
            others: Others::default(),
            changed: BTreeSet::new(),
            unsent: VecDeque::new(),
            under_way: VecDeque::new(),
            series: 0,
            is_synced: false,
            has_content: false,
            is_complete: true,
            has_unread: false,
        })
    }

    pub(in crate::yjs) fn is_synced(&self) -> bool {
        self.is_synced
    }

    /// True if the room has confirmed everything.
    pub(in crate::yjs) fn is_idle(&self) -> bool {
        self.unsent.is_empty() && self.under_way.is_empty()
    }

    /// True if the room outlives the server.
    pub(in crate::yjs) fn is_stored(&self) -> bool {
        self.member.client().durability() != Durability::Memory
    }

    /// Waits until something happens; [`SharedDocument::poll`] then says what. The future may be
    /// dropped without losing anything.
    pub(in crate::yjs) async fn wait(&mut self) {
        self.member.wait().await;
    }

    /// Returns the tasks that events of the room cause.
    ///
    /// # Errors
    /// The document can no longer be a part of this room: why, for its clients.
    pub(in crate::yjs) fn poll(&mut self) -> Result<Vec<News>, Ending> {
        let events = self.member.poll().map_err(|refused| match refused {
            NotJoined::Refused(error) => Ending::refused(&error),
            NotJoined::Stopping { .. } | NotJoined::Deferred { .. } => Ending::restart(),
        })?;
        let mut news = Vec::new();
        for event in events {
            self.on_event(event, &mut news)?;
        }
        let changed = std::mem::take(&mut self.changed);
        let states: Vec<_> = changed.into_iter().flat_map(|one| self.others.review(one)).collect();
        if !states.is_empty() {
            news.push(News::States(states));
        }
        match self.member.is_over() {
            true if self.is_synced => Err(Ending::restart()),
            true => Err(Ending::not_now("the server cannot load the document")),
            false => Ok(news),
        }
    }

    /// Publishes an update. [`News::Update`] tells when it takes effect.
    pub(in crate::yjs) fn publish(&mut self, update: Vec<u8>, waited: usize) {
        self.under_way.push_back(waited);
        let largest = if self.is_stored() { MAX_STORED } else { MAX_MESSAGE };
        if update.len() <= largest {
            self.unsent.push_back((update, false));
        } else {
            self.series += 1;
            let texts = Control::cut(&update, self.series);
            self.unsent.extend(texts.map(|text| (text.into_bytes(), true)));
        }
        self.flush();
    }

    /// Tells the room of the state of a client of this end.
    pub(in crate::yjs) fn show(&mut self, client: u64, json: Option<&str>) {
        let now = self.member.now();
        for keyed in self.own.split(client, json) {
            let key = Some(keyed.key.as_bytes());
            let value =
                Outgoing { bytes: keyed.text.as_bytes(), text: true, key, ..Outgoing::default() };
            if let Err(error) = self.member.client_mut().send(now, self.awareness, value) {
                tracing::debug!(client, %error, "a state of awareness cannot be shown in the room");
            }
        }
    }

    /// The states of the clients of all other participants.
    pub(in crate::yjs) fn states(&self) -> Vec<Change> {
        self.others.all()
    }

    /// The bytes of memory that others' states and unfinished updates take.
    pub(in crate::yjs) fn memory(&self) -> usize {
        self.pieces.memory() + self.others.memory()
    }

    /// Answers [`News::SnapshotWanted`] with the document as one update.
    ///
    /// # Errors
    /// It is too large.
    pub(in crate::yjs) fn snapshot(
        &mut self,
        as_of: Position,
        mut begun: Vec<u8>,
        document: &[u8],
    ) -> Result<(), Error> {
        begun.extend_from_slice(document);
        self.member.client_mut().snapshot(DOCUMENT, as_of, &begun)
    }

    /// Answers [`News::Lead`] with an update that has what the askers lack.
    pub(in crate::yjs) fn answer(&mut self, update: Vec<u8>) {
        self.publish(update, 0);
        self.post(Control::done(self.is_complete && !self.has_unread));
    }

    /// Answers [`News::Lacking`] with what this end has.
    pub(in crate::yjs) fn ask(&mut self, there: &StateVector) {
        self.post(Control::ask(there));
    }

    /// Leaves the room.
    pub(in crate::yjs) fn leave(&mut self) {
        self.member.leave();
    }

    fn post(&mut self, text: String) {
        self.unsent.push_back((text.into_bytes(), true));
        self.flush();
    }

    fn flush(&mut self) {
        let now = self.member.now();
        while let Some((bytes, text)) = self.unsent.front() {
            let message = Outgoing { bytes, text: *text, ..Outgoing::default() };
            match self.member.client_mut().send(now, self.document, message) {
                Ok(Sent::Accepted | Sent::Conflated) => drop(self.unsent.pop_front()),
                // `Event::Drain` tells when to go on.
                Ok(Sent::NotNow) => return,
                Err(error) => {
                    tracing::error!(%error, "an update cannot be sent to the room");
                    return self.member.leave();
                }
            }
        }
    }

    fn on_event(&mut self, event: Event, news: &mut Vec<News>) -> Result<(), Ending> {
        match event {
            Event::Message(message) if message.channel == self.document => {
                self.on_document(message, news)?;
            }
            Event::Message(message) if !message.own => {
                let key = message.key.unwrap_or_default();
                let (key, text) = (str::from_utf8(&key), str::from_utf8(&message.bytes));
                if let (Ok(key), Ok(text)) = (key, text)
                    && let Some(client) = self.others.take(message.sender, key, text)
                {
                    self.changed.insert(client);
                }
            }
            Event::Snapshot { part, bytes, .. } if part == DOCUMENT => {
                match self.pieces.decode(&bytes).map(<[u8]>::to_vec) {
                    Ok(update) => self.take(update, None, news),
                    Err(error) => self.note_unread(&error),
                }
            }
            // Content that is missing or cannot be read here would be lost with the snapshot.
            Event::SnapshotWanted { part, as_of }
                if part == DOCUMENT && self.is_complete && !self.has_unread =>
            {
                let begun = self.pieces.encode(&[]);
                news.push(News::SnapshotWanted { as_of, begun });
            }
            Event::Participants { complete, changes } => {
                if complete {
                    let named: BTreeSet<_> = changes.iter().map(|one| one.id).collect();
                    for gone in self.others.here().into_iter().filter(|id| !named.contains(id)) {
                        self.set_here(gone, PresenceState::Left);
                    }
                }
                for change in changes {
                    self.set_here(change.id, change.state);
                }
            }
            Event::Synced { channel } if channel.is_none_or(|one| one == self.document) => {
                self.is_synced = true;
                self.go_on(news);
            }
            Event::Opened { channel, qos } => {
                let wanted =
                    if channel == self.document { Kind::Transaction } else { Kind::Awareness };
                if qos.kind != wanted {
                    let why = "the room uses the channels of a document for something else";
                    return Err(Ending::refused(&Error::Refused { why: why.to_owned() }));
                }
            }
            Event::Gap { reason, missing, .. } => self.on_gap(reason, missing, news)?,
            Event::Drain => self.flush(),
            Event::Error { error, channel, fatal } => {
                tracing::warn!(%error, "the room of a document tells of an error");
                if fatal || channel == Some(self.document) {
                    return Err(Ending::not_now(error));
                }
            }
            _ => {}
        }
        Ok(())
    }

    fn on_document(&mut self, message: Incoming, news: &mut Vec<News>) -> Result<(), Ending> {
        let Incoming { sender, bytes, text, own, departed, .. } = message;
        if let Some(departed) = departed {
            self.pieces.drop(departed.0.into());
            self.claims.departed(departed);
        } else if text {
            self.on_text(sender, own, str::from_utf8(&bytes).unwrap_or_default(), news)?;
        } else {
            let waited = own.then(|| self.under_way.pop_front().unwrap_or_default());
            self.take(bytes, waited, news);
        }
        self.go_on(news);
        Ok(())
    }

    fn on_text(
        &mut self,
        sender: ParticipantId,
        own: bool,
        text: &str,
        news: &mut Vec<News>,
    ) -> Result<(), Ending> {
        match Control::parse(text) {
            Some(Control::Claim) => self.claims.claim(sender, own),
            Some(Control::Done { is_complete }) => {
                self.is_complete |= self.claims.done(sender, is_complete);
            }
            Some(Control::Ask(there)) => self.claims.ask(sender, own, there),
            Some(Control::Piece(piece)) => {
                let is_last = piece.index + 1 == piece.count;
                match self.pieces.add(sender.0.into(), piece) {
                    Some(update) => {
                        let waited = own.then(|| self.under_way.pop_front().unwrap_or_default());
                        self.take(update, waited, news);
                    }
                    // Pieces of other participants took all the memory. Clients send the update
                    // again when they reconnect.
                    None if own && is_last => return Err(Ending::restart()),
                    None => {}
                }
            }
            None => {}
        }
        Ok(())
    }

    /// Takes an update at its place in the room's order. `waited`: the bytes that waited for it if
    /// it is an own one.
    fn take(&mut self, update: Vec<u8>, waited: Option<usize>, news: &mut Vec<News>) {
        match Update::parse(&update) {
            Ok(parsed) => {
                self.has_content |= !parsed.is_empty();
                news.push(News::Update { update, waited: waited.unwrap_or_default() });
            }
            Err(error) => self.note_unread(&error),
        }
    }

    fn note_unread(&mut self, error: &groupwire_yjs::Error) {
        if !std::mem::replace(&mut self.has_unread, true) {
            tracing::warn!(%error, "the room of a document has an update that cannot be read: it is left out");
        }
    }

    fn on_gap(
        &mut self,
        reason: GapReason,
        missing: Option<(ChannelId, Position)>,
        news: &mut Vec<News>,
    ) -> Result<(), Ending> {
        let is_here = missing.is_some_and(|(channel, _)| channel == self.document);
        match reason {
            GapReason::Incarnation | GapReason::Session => return Err(Ending::restart()),
            GapReason::Reset if is_here => return Err(Ending::emptied()),
            GapReason::History if is_here => {
                self.is_complete = false;
                // Other participants must not wait for a claim that this end forgets.
                if self.claims.is_waiting {
                    self.post(Control::done(false));
                }
                self.claims.forget();
                news.push(News::Lacking);
            }
            GapReason::Reset | GapReason::History => {}
        }
        Ok(())
    }

    /// Answers the questions of others if this end leads, or claims to do so.
    fn go_on(&mut self, news: &mut Vec<News>) {
        if !self.is_synced {
            return;
        }
        if self.claims.is_asked() && self.has_content && !self.claims.is_waiting {
            self.claims.is_waiting = true;
            self.post(Control::claim());
        }
        if self.claims.leads() {
            let least = self.claims.least();
            self.claims.led();
            match least {
                Some(least) => news.push(News::Lead(least)),
                None => self.post(Control::done(self.is_complete && !self.has_unread)),
            }
        }
    }

    fn set_here(&mut self, id: ParticipantId, state: PresenceState) {
        if Some(id) == self.member.client().participant() {
            return;
        }
        self.changed.extend(self.others.set_here(id, state == PresenceState::Here));
        if state == PresenceState::Left {
            self.others.forget(id);
        }
    }
}
