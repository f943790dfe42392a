//! Events as C sees them.
#![allow(unsafe_code)]

use std::collections::VecDeque;
use std::ffi::{CString, c_char};
use std::ptr::null;

use groupwire_ffi::{Event, Json, Message, Participant, SharedChange};

use crate::arguments::{check_out, put};
use crate::call::{c_string, call};
use crate::table::find;
use crate::types::*;

/// An event of a room. The members that have no meaning for its type are 0. Everything that it
/// points to is valid until the next gw_poll of the room or its gw_free.
#[derive(Debug, Clone, Copy)]
#[repr(C)]
pub struct gw_event {
    /// A gw_event_type.
    pub r#type: u32,
    /// Flags such as GW_OWN.
    pub flags: u32,
    /// The channel, or GW_NO_CHANNEL.
    pub channel: u32,
    /// The sender, the receiver or the participant that the event is about; 0 is the room itself.
    pub participant: u32,
    /// A gw_status.
    pub status: u32,
    /// A gw_presence.
    pub presence: u32,
    /// A gw_change.
    pub change: u32,
    /// A gw_outcome.
    pub outcome: u32,
    /// A gw_gap.
    pub reason: u32,
    /// A gw_contract_state.
    pub contract: u32,
    /// A gw_code.
    pub code: u32,
    /// The program's own number of a message to one participant.
    pub tag: u32,
    /// The number of a message among those of its sender, modulo 2^32.
    pub number: u32,
    /// The participant that left for good, in the room's entry about that; otherwise 0.
    pub departed: u32,
    /// The only receiver of a message; otherwise 0.
    pub to: u32,
    /// The shared data, as gw_shared wrote it.
    pub data: u32,
    /// A gw_shared_kind.
    pub kind: u32,
    /// A gw_shared_loss.
    pub loss: u32,
    /// The place in the room's order; 0 for awareness.
    pub position: u64,
    /// A number of participants or transactions.
    pub count: u64,
    /// Microseconds since the sending program made the message, as far as the clocks tell.
    pub age_us: u64,
    /// The content of a message, a presence or a part of a snapshot, or keys; never null.
    pub bytes: *const u8,
    /// The bytes of `bytes`.
    pub bytes_len: usize,
    /// The key of a message, or null.
    pub key: *const u8,
    /// The bytes of `key`.
    pub key_len: usize,
    /// A text that ends with NUL, or null.
    pub text: *const c_char,
    /// The QoS in force.
    pub qos: gw_qos,
}

/// The memory of the event that the program looks at, and events that are to be shown next.
#[derive(Default)]
pub(crate) struct Shown {
    /// The owner of the bytes that the last event points to.
    event: Option<Event>,
    participant: Option<Participant>,
    text: CString,
    /// Participants of a page, which are events of their own, and the event at their end.
    page: VecDeque<Participant>,
    page_end: Option<(u32, bool)>,
    /// Changes of the shared data with this number, which are events of their own.
    changes: (u32, VecDeque<SharedChange>),
    /// The keys of the last change, as JSON.
    keys: String,
}

/// Takes the next event of a room; one of GW_EVENT_TYPE_NONE if there is none at present. A game
/// calls it in every frame until there are no more. If the program does not poll, events wait in
/// memory up to 4 MiB, and then in the server.
///
/// # Safety
/// `event` points to a gw_event.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gw_poll(room: gw_room, event: *mut gw_event) -> u32 {
    call(|| {
        check_out("`event`", event)?;
        // SAFETY: checked, and a gw_event as the caller says.
        unsafe { put(event, none()) };
        let entry = find(room)?;
        let mut shown = entry.shown()?;
        let Some(next) = shown.next(|| entry.room.poll())? else { return Ok(()) };
        // SAFETY: as above.
        unsafe { put(event, next) };
        Ok(())
    })
}

impl Shown {
    fn next(
        &mut self,
        poll: impl FnOnce() -> Result<Option<Event>, groupwire_ffi::Error>,
    ) -> Result<Option<gw_event>, groupwire_ffi::Error> {
        self.event = None;
        self.participant = None;
        if self.changes.1.is_empty() && self.page.is_empty() && self.page_end.is_none() {
            match poll()? {
                Some(Event::Page { after, participants, last }) => {
                    self.page = participants.into();
                    self.page_end = Some((after, last));
                }
                Some(Event::SharedChanged { data, changes }) if !changes.is_empty() => {
                    self.changes = (data, changes.into());
                }
                Some(event) => return Ok(Some(self.show(event))),
                None => return Ok(None),
            }
        }
        if let Some(change) = self.changes.1.pop_front() {
            return Ok(Some(self.show_change(&change)));
        }
        if let Some(participant) = self.page.pop_front() {
            let shown = self.show_participant(gw_event_type::PageEntry, participant);
            return Ok(Some(shown));
        }
        Ok(self.page_end.take().map(|(after, last)| gw_event {
            participant: after,
            flags: flag(last, GW_LAST),
            ..of(gw_event_type::Page)
        }))
    }

    fn show(&mut self, event: Event) -> gw_event {
        let mut shown = match &event {
            Event::Status { status } => {
                gw_event { status: *status as u32, ..of(gw_event_type::Status) }
            }
            Event::Joined { participant, resumed } => gw_event {
                participant: *participant,
                flags: flag(*resumed, GW_RESUMED),
                ..of(gw_event_type::Joined)
            },
            Event::Opened { channel, qos, changed } => gw_event {
                channel: *channel,
                qos: (*qos).into(),
                flags: flag(*changed, GW_CHANGED),
                ..of(gw_event_type::Opened)
            },
            Event::Closed { channel } => {
                gw_event { channel: *channel, ..of(gw_event_type::Closed) }
            }
            Event::Contract { channel, contract } => gw_event {
                channel: *channel,
                contract: contract.state as u32,
                text: self.text(&contract.text),
                ..of(gw_event_type::Contract)
            },
            Event::Message(message) => message_event(gw_event_type::Message, message),
            Event::Direct(message) => message_event(gw_event_type::Direct, message),
            Event::Receipt { channel, participant, tag, outcome } => gw_event {
                channel: *channel,
                participant: *participant,
                tag: *tag,
                outcome: *outcome as u32,
                ..of(gw_event_type::Receipt)
            },
            Event::Participant { participant, change } => {
                let shown = self.show_participant(gw_event_type::Participant, participant.clone());
                gw_event { change: *change as u32, ..shown }
            }
            Event::Count { count, everybody } => gw_event {
                count: u64::from(*count),
                flags: flag(*everybody, GW_EVERYBODY),
                ..of(gw_event_type::Count)
            },
            Event::Synced { channel } => {
                gw_event { channel: channel.unwrap_or(GW_NO_CHANNEL), ..of(gw_event_type::Synced) }
            }
            Event::SnapshotWanted { part, as_of } => gw_event {
                text: self.text(part),
                position: *as_of,
                ..of(gw_event_type::SnapshotWanted)
            },
            Event::Snapshot { part, as_of, bytes } => gw_event {
                text: self.text(part),
                position: *as_of,
                bytes: bytes.as_ptr(),
                bytes_len: bytes.len(),
                ..of(gw_event_type::Snapshot)
            },
            Event::Gap { reason, uncertain, channel, position } => gw_event {
                reason: *reason as u32,
                count: *uncertain,
                channel: channel.unwrap_or(GW_NO_CHANNEL),
                position: *position,
                ..of(gw_event_type::Gap)
            },
            Event::Drain => of(gw_event_type::Drain),
            Event::Pending { count } => gw_event { count: *count, ..of(gw_event_type::Pending) },
            Event::TokenWanted => of(gw_event_type::TokenWanted),
            Event::Failed { error, channel, fatal } => gw_event {
                code: error.code as u32,
                channel: channel.unwrap_or(GW_NO_CHANNEL),
                text: self.text(&error.text),
                flags: flag(*fatal, GW_FATAL),
                ..of(gw_event_type::Failed)
            },
            // Without changes: only the state of the data may have changed.
            Event::SharedChanged { data, .. } => {
                gw_event { data: *data, ..of(gw_event_type::SharedChanged) }
            }
            Event::SharedLost { data, loss } => {
                gw_event { data: *data, loss: *loss as u32, ..of(gw_event_type::SharedLost) }
            }
            // `next` takes pages apart, and every other event of the facade is above.
            _ => none(),
        };
        if shown.bytes.is_null() {
            shown.bytes = EMPTY.as_ptr();
        }
        self.event = Some(event);
        shown
    }

    fn show_participant(&mut self, kind: gw_event_type, participant: Participant) -> gw_event {
        let text = participant.user.as_deref().map_or(null(), |user| self.text(user));
        let kept = self.participant.insert(participant);
        gw_event {
            participant: kept.id,
            presence: kept.state as u32,
            bytes: kept.presence.as_ptr(),
            bytes_len: kept.presence.len(),
            text,
            ..of(kind)
        }
    }

    fn show_change(&mut self, change: &SharedChange) -> gw_event {
        self.keys =
            change.keys.iter().map(|key| Json::from(key.as_str())).collect::<Json>().to_string();
        gw_event {
            data: self.changes.0,
            kind: change.kind as u32,
            text: self.text(&change.name),
            bytes: self.keys.as_ptr(),
            bytes_len: self.keys.len(),
            ..of(gw_event_type::SharedChanged)
        }
    }

    fn text(&mut self, text: &str) -> *const c_char {
        self.text = c_string(text);
        self.text.as_ptr()
    }
}

const EMPTY: &[u8; 1] = &[0];

fn message_event(kind: gw_event_type, message: &Message) -> gw_event {
    let flags = flag(message.text, GW_TEXT)
        | flag(message.own, GW_OWN)
        | flag(message.stale, GW_STALE)
        | flag(message.state, GW_STATE);
    gw_event {
        flags,
        channel: message.channel,
        participant: message.sender,
        number: message.index,
        departed: message.departed,
        to: message.to,
        position: message.position,
        age_us: message.age_us,
        bytes: message.bytes.as_ptr(),
        bytes_len: message.bytes.len(),
        key: message.key.as_ref().map_or(null(), |key| key.as_ptr()),
        key_len: message.key.as_ref().map_or(0, Vec::len),
        ..of(kind)
    }
}

fn flag(is_set: bool, flag: u32) -> u32 {
    if is_set { flag } else { 0 }
}

fn none() -> gw_event {
    of(gw_event_type::None)
}

/// An event of this type whose other members are 0.
fn of(kind: gw_event_type) -> gw_event {
    gw_event {
        r#type: kind as u32,
        flags: 0,
        channel: GW_NO_CHANNEL,
        participant: 0,
        status: 0,
        presence: 0,
        change: 0,
        outcome: 0,
        reason: 0,
        contract: 0,
        code: 0,
        tag: 0,
        number: 0,
        departed: 0,
        to: 0,
        data: 0,
        kind: 0,
        loss: 0,
        position: 0,
        count: 0,
        age_us: 0,
        bytes: EMPTY.as_ptr(),
        bytes_len: 0,
        key: null(),
        key_len: 0,
        text: null(),
        qos: gw_qos {
            kind: 0,
            overflow: 0,
            loss: 0.0,
            min_rate: 0.0,
            max_rate: 0.0,
            deadline_ms: 0,
            priority: 0,
            is_private: 0,
            departures: 0,
            speakers: 0,
        },
    }
}
