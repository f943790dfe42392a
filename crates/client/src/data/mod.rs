//! Shared data of a room: connects the state machine of `groupwire-shared` with two channels.
//!
//! ```no_run
//! use groupwire_client::data::{Definitions, SharedOptions, Update};
//! use groupwire_client::{Options, Room};
//!
//! # async fn example() -> Result<(), Box<dyn std::error::Error>> {
//! let (room, mut events) = Room::connect("ws://127.0.0.1:8080", Options::new("demo"))?;
//! let data = room.shared(Definitions::new(), SharedOptions::default())?;
//! data.lock().counter("likes").add(1)?;
//! while let Some(update) = data.next(&mut events).await {
//!     match update {
//!         Update::Data(event) => println!("{event:?}: {}", data.lock().counter("likes").value()),
//!         Update::Room(event) => println!("{event:?}"),
//!     }
//! }
//! # Ok(())
//! # }
//! ```

mod inputs;

use std::collections::BTreeMap;
use std::ops::{Deref, DerefMut};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use groupwire_session::client::{ChannelId, Event, Sent};
use groupwire_session::{ParticipantId, Qos};
pub use groupwire_shared::{
    Action, Change, Counter, Definitions, Error, Event as DataEvent, Fault, Json, JsonError, Kind,
    List, Lock, Lost, Map, Object, Reduced, Reducer, Schema, Shared, Text, Turns,
};
use groupwire_shared::{Input, Link, Taken};
use tokio::sync::Notify;

use crate::events::Events;
use crate::room::{Channel, Room, SendOptions};

/// The options of [`Room::shared`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SharedOptions {
    /// The name of the channel and of the part of the snapshot. Previews use the channel with this
    /// name and `/preview`.
    pub name: String,
    /// The QoS of operations. It is one of transactions, and records departures in any case.
    pub operations: Qos,
    /// The QoS of previews; `None` for no previews.
    pub previews: Option<Qos>,
    /// The id of this program among the authors of operations, of at most 128 characters: no other
    /// program in the room may ever have had it. `None` for a random one.
    pub author: Option<String>,
}

impl Default for SharedOptions {
    fn default() -> Self {
        SharedOptions {
            name: "shared".to_owned(),
            operations: Qos::transaction(),
            previews: Some(Qos::awareness().rate(0, 25).deadline(Duration::from_millis(250))),
            author: None,
        }
    }
}

/// The shared data of a room. Clones are handles of the same data; it keeps the room open.
#[derive(Clone)]
pub struct SharedData {
    inner: Arc<Inner>,
}

/// The result of [`SharedData::next`].
#[derive(Debug, Clone, PartialEq)]
pub enum Update {
    /// News of the data.
    Data(DataEvent),
    /// An event of the room. The shared data has taken it already.
    Room(Event),
}

/// The data, locked for reading and changing. Do not hold the guard across an await, and do not
/// lock the data again in the same expression: the second lock would wait for the first one for
/// ever.
pub struct Guard<'a> {
    state: MutexGuard<'a, State>,
    changed: &'a Notify,
}

/// The channels of shared data.
pub struct Channels {
    operations: Channel,
    previews: Option<Channel>,
}

struct Inner {
    room: Room,
    name: String,
    operations: ChannelId,
    previews: Option<ChannelId>,
    state: Mutex<State>,
    /// Wakes [`SharedData::next`] after own changes.
    changed: Notify,
}

struct State {
    data: Shared<Channels>,
    me: Option<ParticipantId>,
    /// The other participants by their numbers: true if the participant is here, false if it is
    /// away.
    others: BTreeMap<u64, bool>,
    is_connected: bool,
    /// True if the room has said that all own transactions are confirmed. The data is told only
    /// after it has taken all events: if an own transaction were still among these events, the data
    /// would believe that the room has refused it.
    is_confirmed: bool,
}

impl Room {
    /// Opens shared data in the room: maps, lists, counters, reducers, locks and turns that are the
    /// same for all participants, whether they are in Rust or in TypeScript (`groupwire/shared`).
    /// Open it before the program reads the room's events: the data knows only participants from
    /// events that it has taken. If it is opened later, [`SharedData::meet`] tells it of others.
    ///
    /// # Errors
    /// The errors of [`Room::channel`] and [`Room::provide`].
    pub fn shared(
        &self,
        definitions: Definitions,
        options: SharedOptions,
    ) -> Result<SharedData, crate::Error> {
        let SharedOptions { name, operations, previews, author } = options;
        let operations = self.channel(&name, operations.departures())?;
        let preview_channel = |qos| self.channel(&format!("{name}/preview"), qos);
        let previews = previews.map(preview_channel).transpose()?;
        self.provide(&name, &[&operations])?;
        let author = author.unwrap_or_else(|| author_of(self.session().random()));
        let ids = (operations.id(), previews.as_ref().map(Channel::id));
        let data = Shared::new(&author, definitions, Channels { operations, previews });
        let me = self.participant();
        let mut state = State {
            data,
            me,
            others: BTreeMap::new(),
            is_connected: me.is_some() && self.is_joined(),
            is_confirmed: false,
        };
        state.participants();
        let inner = Inner {
            room: self.clone(),
            name,
            operations: ids.0,
            previews: ids.1,
            state: Mutex::new(state),
            changed: Notify::new(),
        };
        Ok(SharedData { inner: Arc::new(inner) })
    }
}

impl SharedData {
    /// The data. Changes are sent at once.
    pub fn lock(&self) -> Guard<'_> {
        Guard { state: self.state(), changed: &self.inner.changed }
    }

    /// The next news of the data, or the next event of the room, which the data takes first. The
    /// program has to call this again and again, because nothing arrives without it. `None` when
    /// the session is over. The future may be dropped without losing an event.
    ///
    /// `events` has to belong to the room in which the data was opened.
    pub async fn next(&self, events: &mut Events) -> Option<Update> {
        loop {
            if let Some(event) = self.poll(events) {
                return Some(Update::Data(event));
            }
            tokio::select! {
                biased;
                event = events.next() => {
                    let event = event?;
                    self.take(&event);
                    return Some(Update::Room(event));
                }
                () = self.inner.changed.notified() => {}
            }
        }
    }

    /// Passes an event of the room to the data, for a program that takes events by
    /// [`Events::take_batch`] and not by [`SharedData::next`]. Returns true if the event concerns
    /// only the data: a message on its channels, its part of the snapshot, or a change of the state
    /// of its channels.
    ///
    /// ```no_run
    /// # use groupwire_client::{Events, data::SharedData};
    /// # fn frame(data: &SharedData, events: &mut Events) {
    /// let mut batch = std::collections::VecDeque::new();
    /// events.take_batch(&mut batch);
    /// for event in batch.drain(..) {
    ///     if !data.take(&event) {
    ///         println!("{event:?}");
    ///     }
    /// }
    /// while let Some(news) = data.poll(events) {
    ///     println!("{news:?}");
    /// }
    /// # }
    /// ```
    pub fn take(&self, event: &Event) -> bool {
        let mut state = self.state();
        self.inner.take(&mut state, event);
        self.inner.owns(event)
    }

    /// Tells the data of participants whose events the program took before it opened the data. Each
    /// item has the number of a participant, and true if it is here or false if it is away.
    pub fn meet(&self, others: impl IntoIterator<Item = (ParticipantId, bool)>) {
        let mut state = self.state();
        state.others.extend(others.into_iter().map(|(id, is_here)| (id.into(), is_here)));
        state.participants();
    }

    /// News of the data, if there is some, for a program that has passed all events that it took to
    /// [`SharedData::take`].
    pub fn poll(&self, events: &Events) -> Option<DataEvent> {
        let mut state = self.state();
        // Nobody else can send an operation between this check and the input, because the data is
        // locked.
        if state.is_confirmed && events.is_settled() {
            state.is_confirmed = false;
            state.data.handle_input(Input::Unconfirmed(0));
        }
        state.data.poll_event()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // A thread that panicked while it held the lock has reported that itself, and the data is
        // consistent between its own calls.
        self.inner.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Deref for Guard<'_> {
    type Target = Shared<Channels>;

    fn deref(&self) -> &Self::Target {
        &self.state.data
    }
}

impl DerefMut for Guard<'_> {
    fn deref_mut(&mut self) -> &mut Self::Target {
        &mut self.state.data
    }
}

impl Drop for Guard<'_> {
    fn drop(&mut self) {
        self.changed.notify_one();
    }
}

impl Link for Channels {
    type Error = crate::Error;

    fn send(&mut self, operation: &str) -> Result<Taken, crate::Error> {
        let sent = self.operations.send(operation, SendOptions::default())?;
        Ok(if sent == Sent::NotNow { Taken::NotNow } else { Taken::Yes })
    }

    fn preview(&mut self, key: &str, text: &str) {
        let Some(previews) = &self.previews else { return };
        let options = SendOptions { key: Some(key.as_bytes()), ..SendOptions::default() };
        // A preview may be lost, also because this participant may not send any.
        let _ = previews.send(text, options);
    }
}

/// Eight characters of a random number. TypeScript makes the ids of its programs in the same way.
fn author_of(mut number: u64) -> String {
    const DIGITS: &[u8; 36] = b"0123456789abcdefghijklmnopqrstuvwxyz";
    let digit = |_| {
        let digit = DIGITS[(number % 36) as usize];
        number /= 36;
        char::from(digit)
    };
    (0..8).map(digit).collect()
}
