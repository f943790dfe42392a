//! The checks at the end of a session, when all people that have not left can be reached again and
//! have had time to catch up.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use groupwire_session::client::Status;
use groupwire_session::{Kind, Overflow, PresenceState, Qos, Receipt};

use crate::app::{App, Taint};
use crate::model::{Model, place};
use crate::world::World;

pub(crate) fn judge(world: &mut World, keeps_last_values: bool) {
    let model = &world.model;
    // The model's order lacks transactions that no person received.
    if keeps_last_values && model.apps.iter().all(|app| app.taint < Taint::Stream) {
        departures(model);
    }
    let taken = model.whispered.keys().find(|position| model.order.contains_key(position));
    assert_eq!(taken, None, "law 2: two transactions at one place");
    for (at, app) in model.apps.iter().enumerate().filter(|(_, app)| !app.is_gone) {
        let client = &world.people[at].client;
        // With garbled packets, the other end may seem to speak another version, after which the
        // client gives up.
        let seems_hopeless = app.taint == Taint::Stream
            && ["unsupported", "protocol version"]
                .iter()
                .any(|seems| app.errors.iter().any(|error| error.contains(seems)));
        let is_here = app.status == Some(Status::Connected);
        assert!(is_here || seems_hopeless, "law 2: {at} is {:?}: {:?}", app.status, app.errors);
        if app.taint == Taint::Stream {
            continue;
        }
        assert!(app.errors.iter().all(|error| is_fair(app, error)), "{at}: {:?}", app.errors);
        assert_eq!(client.pending(), 0, "law 2: person {at} still waits");
        let settled: usize = app.settled.values().sum();
        let accepted = app.transactions.len();
        assert_eq!(settled, accepted, "law 2: person {at}: some were taken and never came back");
        document(model, at);
        whispers(model, at);
        presence(model, at);
        membership(model, at);
        for (other, sender) in model.apps.iter().enumerate() {
            let counts = keeps_last_values && app.taint == Taint::None;
            if counts && other != at && !sender.is_gone && sender.taint == Taint::None {
                last_values(model, at, other);
            }
        }
    }
}

/// Transports may break and servers may stop, but no error blames a participant that did nothing
/// wrong.
fn is_fair(app: &App, error: &str) -> bool {
    let faults = ["malformed", "does not decode", "unsupported", "not allowed", "was not opened"];
    app.taint != Taint::None || !faults.iter().any(|fault| error.contains(fault))
}

/// W113: on a channel that records departures, a participant that sent something and left has one
/// departure entry. A participant that is still there, or has sent nothing since it joined, has
/// none.
fn departures(model: &Model) {
    let channels = model.channels.iter().enumerate().filter(|(_, qos)| qos.departures);
    for (channel, _) in channels {
        let mut present = BTreeSet::new();
        let of_channel = model.order.iter().filter(|(_, one)| one.channel == channel);
        for (position, one) in of_channel {
            match one.departed {
                None => _ = present.insert(one.sender),
                Some(departed) => {
                    let had_sent = present.remove(&departed);
                    assert!(had_sent, "W113: {position}: {departed} had sent nothing on {channel}");
                }
            }
        }
        let unsaid: Vec<&u32> = present.intersection(&model.left).collect();
        assert!(unsaid.is_empty(), "W113: {unsaid:?} left, and {channel} does not say so");
    }
}

/// Law 2: the person has all transactions that are for it, each once and at its place.
fn document(model: &Model, at: usize) {
    let app = &model.apps[at];
    let gap = |channel: usize| app.gap.get(&channel).copied().unwrap_or(0);
    let news = model.order.iter().filter(|(position, one)| **position > gap(one.channel));
    for (position, ordered) in news {
        let is_own = model.owners.get(&ordered.sender) == Some(&at);
        let known = app.document.get(position);
        let is_away = is_own && app.unplaced.contains(&(ordered.channel, ordered.content));
        let is_for = app.reads[ordered.channel] || (is_own && !is_away);
        if is_for {
            let known = known.map(|(_, place)| *place);
            assert_eq!(
                known,
                Some(place(ordered)),
                "law 2: {position} of person {at}: {ordered:?}"
            );
        } else if let Some((_, known)) = known {
            assert_eq!(*known, place(ordered), "law 2: {position} of person {at}'s part");
        }
    }
    let past = app
        .document
        .iter()
        .filter(|(position, (channel, _))| **position > gap(*channel))
        .find(|(position, _)| !model.order.contains_key(position));
    assert_eq!(past, None, "law 2: person {at} knows what was never ordered");
}

/// W116: the sender of each direct transaction gets one receipt. It is *delivered*, unless the
/// receiver left, was not there, or does not receive the channel.
fn whispers(model: &Model, at: usize) {
    for (tag, whisper) in &model.apps[at].whispers {
        let owner = model.owners.get(&whisper.to).map(|&owner| &model.apps[owner]);
        let is_nobody = owner.is_some_and(|app| app.is_gone || app.participant != whisper.to);
        if whisper.receipts.is_empty() && is_nobody && model.present.contains(&whisper.to) {
            // It is away for the room, and does not come back.
            continue;
        }
        let [receipt] = whisper.receipts[..] else {
            panic!("W116: person {at} is not told of {tag}: {whisper:?}");
        };
        let is_lost = whisper.confirmed == 0;
        assert!(!is_lost || receipt == Receipt::Unknown, "law 2: person {at}, {tag}: {whisper:?}");
        if model.incarnation != whisper.incarnation {
            continue;
        }
        let Some(receiver) = owner.filter(|app| app.taint < Taint::Stream) else { continue };
        let has_left = model.ever_left.contains(&whisper.to) || receiver.is_gone;
        let opened = receiver.opened_at[whisper.channel];
        let receives =
            receiver.reads[whisper.channel] && opened.is_some_and(|opened| opened < whisper.at);
        let is_right = match receipt {
            Receipt::Delivered => whisper.came > 0,
            Receipt::Gone => has_left || model.joined.get(&whisper.to) >= Some(&whisper.at),
            Receipt::NotOpen => !receives || receiver.has_closed,
            // Before it joined, it could not know the number of any participant.
            Receipt::Unknown => {
                model.apps[at].has_lost || model.apps[at].joined_at >= Some(whisper.at)
            }
            _ => whisper.came == 0,
        };
        assert!(is_right, "W116: person {at}, {tag}: {whisper:?}");
    }
}

fn presence(model: &Model, at: usize) {
    let app = &model.apps[at];
    // In a large room, only the states of participants that acted lately are kept up to date.
    let of = |app: &App| !app.is_gone && model.apps[at].everybody;
    let here = model.apps.iter().enumerate().filter(|(other, app)| *other != at && of(app));
    for (other, one) in here.filter(|(_, one)| one.taint < Taint::Stream) {
        let expected = (PresenceState::Here, one.user.clone(), one.presence.clone());
        let told = app.people.get(&one.participant);
        assert_eq!(told, Some(&expected), "W34, W100: what person {at} knows of {other}");
    }
    for (participant, (state, ..)) in &app.people {
        let Some(&owner) = model.owners.get(participant) else { continue };
        let one = &model.apps[owner];
        let is_here = !one.is_gone && one.participant == *participant;
        // In a large room, the room does not report that participants are away that have not acted
        // lately.
        let is_right = is_here
            || *state == PresenceState::Away
            || one.taint == Taint::Stream
            || !app.everybody;
        assert!(is_right, "W34: person {at} believes {participant} of {owner} to be {state:?}");
    }
}

/// Law 7: the count is right, no known participant has left, and the pages together have all
/// participants.
fn membership(model: &Model, at: usize) {
    let app = &model.apps[at];
    if app.taint == Taint::Stream || app.status != Some(Status::Connected) {
        return;
    }
    let present = &model.present;
    if !app.everybody {
        assert_eq!(app.count as usize, present.len(), "law 7: the count of person {at}");
    }
    let left = app.people.keys().find(|id| !present.contains(id));
    assert_eq!(left, None, "law 7: person {at} knows one who has left");
    if !model.has_pages {
        return;
    }
    let (pages, has_last) = &app.pages;
    assert!(*has_last, "law 7: person {at} was not sent the last page");
    let mut others = present.clone();
    others.remove(&app.participant);
    // A participant of a page may have left since.
    let missed = others.difference(pages).next();
    assert_eq!(missed, None, "law 7: the pages of person {at}");
}

/// W41: the last value of each key arrives at everybody.
fn last_values(model: &Model, at: usize, other: usize) {
    let (app, sender) = (&model.apps[at], &model.apps[other]);
    for (channel, qos) in model.channels.iter().enumerate() {
        let conflates = qos.kind == Kind::Awareness && qos.overflow == Overflow::Conflate;
        if !(conflates && app.reads[channel] && app.opened_at[channel].is_some()) {
            continue;
        }
        let mut last = BTreeMap::new();
        for said in sender.said.iter().filter(|said| said.channel == channel) {
            last.insert(said.key, said);
        }
        // W18, W31: who joined or opened the channel later is told with the late-joiner state.
        let is_fresh = |at: Duration| at >= sender.fresh_since;
        for said in last.values().filter(|said| is_fresh(said.at)) {
            let came = app.newest.get(&(sender.participant, channel, said.key));
            let came = came.map(|(_, content)| *content);
            let told = (said.at, sender.participant);
            assert_eq!(
                came,
                Some(said.content),
                "W41: person {at} lacks the last value of person {other} on {channel}: {told:?}"
            );
        }
    }
}

/// If nothing was lost and nobody was away, all people received all aggregated values, except for
/// datagrams that came so late that their coder could not decode them any more.
pub(crate) fn judge_calm(world: &World) {
    let model = &world.model;
    let unread = |at: usize| world.people[at].client.stats().datagrams_unread;
    if world.room.stats().datagrams_unread > 0 {
        return;
    }
    let is_due = |qos: &Qos| {
        qos.kind == Kind::Awareness && qos.overflow == Overflow::Aggregate && qos.deadline.is_none()
    };
    let channels = model.channels.iter().enumerate().filter(|(_, qos)| is_due(qos));
    for (channel, _) in channels {
        let receivers = model.apps.iter().enumerate();
        for (at, app) in receivers.filter(|(at, app)| app.reads[channel] && unread(*at) == 0) {
            let Some(opened) = app.opened_at[channel] else { continue };
            for (_, sender) in model.apps.iter().enumerate().filter(|(other, _)| *other != at) {
                let mut came = BTreeMap::<u64, usize>::new();
                let of = (sender.participant, channel, 0)..=(sender.participant, channel, u32::MAX);
                for place in app.came.range(of) {
                    *came.entry(model.spoken[place]).or_default() += 1;
                }
                let said = sender.said.iter().filter(|said| said.channel == channel);
                // A message of the same instant may have been sent before the channel was open.
                for said in said.filter(|said| said.at > opened) {
                    let left = came.get_mut(&said.content).filter(|left| **left > 0);
                    let left = left.unwrap_or_else(|| {
                        panic!("person {at} lacks what was said on {channel} at {:?}", said.at)
                    });
                    *left -= 1;
                }
            }
        }
    }
}
