//! Another QoS for a channel while it is open (wire.md W77), and what the server knows of contracts (W80).

use alloc::collections::BTreeSet;
use alloc::string::ToString;
use alloc::vec::Vec;
use core::time::Duration;

use super::participant::Connection;
use super::{Event, Output, Room};
use crate::contract::{Course, Tally};
use crate::datagrams::Datagrams;
use crate::ids::{ChannelNo, Index, ParticipantId};
use crate::link::error_frame;
use crate::wire::contract::{self, Entry};
use crate::wire::frame::Frame;
use crate::{ChangeRequest, Error, Qos};

/// How often receivers are told of senders' ways.
const TELL_EVERY: Duration = Duration::from_secs(1);

/// A share that changed by less, in 1/1000, is no news; nor is one of few messages.
const WORTH_TELLING: u16 = 10;
const LEAST_JUDGED: u64 = 10;

/// For who looks on, what came is counted in spans of so many seconds.
const SPAN: u64 = 10;

/// What a participant sends on one channel, as it comes here.
#[derive(Debug)]
pub(super) struct Upstream {
    course: Course,
    /// Since receivers were last told.
    tally: Tally,
    /// Before that: in the present span, which has this number, and in the one before.
    spans: [Tally; 2],
    span: u64,
}

impl Room {
    pub(super) fn change(
        &mut self,
        now: Duration,
        id: ParticipantId,
        channel: ChannelNo,
        qos: Qos,
    ) -> Result<(), Error> {
        let Some(participant) = self.participants.get(&id) else { return Ok(()) };
        let Some(connection) = participant.connection.as_deref() else { return Ok(()) };
        let Some(opened) = connection.channels.get(&channel) else {
            return Err(Error::UnknownChannel { channel: channel.get() });
        };
        let known = &mut self.channels[channel.place()];
        let existing = known.qos;
        let request = ChangeRequest {
            room: &self.config.name,
            identity: &participant.identity,
            channel: &known.name,
            access: opened.access,
            qos,
            existing,
        };
        let granted = existing
            .can_become(&qos)
            .map_err(|error| error.to_string())
            .and_then(|()| self.authority.change(&request))
            .and_then(|qos| {
                existing.can_become(&qos).map(|()| qos).map_err(|error| error.to_string())
            });
        let qos = match granted {
            Ok(qos) => qos,
            Err(why) => {
                let mut frame = Vec::new();
                error_frame(&Error::NotChanged { why }, false, channel.get(), &mut frame);
                if let Some(connection) = self.connection(id) {
                    connection.link.queue_raw(frame);
                }
                return Ok(());
            }
        };
        known.qos = qos;
        if qos != existing {
            (known.came, known.upstream) = (Tally::default(), None);
            let name = known.name.clone();
            self.outputs.push_back(Output::Event(Event::Changed { name, qos, participant: id }));
        }
        for (&other, participant) in &mut self.participants {
            if let Some(connection) = participant.connection.as_deref_mut()
                && connection.channels.contains_key(&channel)
                && (other == id || qos != existing)
            {
                connection.renewed.insert(channel);
            }
        }
        self.schedule_tick(now);
        Ok(())
    }

    /// W16: puts what holds of changed channels before the next body.
    pub(super) fn tell_changes(&mut self, id: ParticipantId) {
        let Room { participants, channels, .. } = self;
        let connection = participants.get_mut(&id).and_then(|one| one.connection.as_deref_mut());
        let Some(connection) = connection.filter(|one| !one.renewed.is_empty() && one.link.ready())
        else {
            return;
        };
        for id in core::mem::take(&mut connection.renewed) {
            let known = &channels[id.place()];
            if let Some(opened) = connection.channels.get(&id) {
                let (name, qos, access) = (known.name.as_str(), known.qos, opened.access);
                connection.link.queue(&Frame::Channel { reference: 0, id, access, name, qos });
            }
        }
    }

    /// Tells receivers what share of a channel's messages the server lacked, and what they can expect, if that changed.
    pub(super) fn tell_upstream(&mut self, now: Duration) {
        if self.told_upstream.is_some_and(|told| now < told + TELL_EVERY) {
            return;
        }
        self.told_upstream = Some(now);
        for participant in self.participants.values_mut() {
            for (&channel, upstream) in &mut participant.upstream {
                let tally = upstream.take(now);
                self.channels[channel.place()].came.add(tally);
            }
        }
        let mut news = BTreeSet::new();
        for (id, channel) in (1..).map(ChannelNo).zip(&mut self.channels) {
            if channel.came.judged < LEAST_JUDGED {
                continue;
            }
            let share = channel.came.missed_per_mille();
            channel.came.age();
            if channel.upstream.is_none_or(|told| share.abs_diff(told) >= WORTH_TELLING) {
                channel.upstream = Some(share);
                news.insert(id);
            }
        }
        let Room { participants, channels, .. } = self;
        for connection in participants.values_mut().filter_map(|one| one.connection.as_deref_mut())
        {
            let mut told = connection.heed_path();
            told.extend(&news);
            told.retain(|&channel| connection.subscription(channel).is_some());
            let entry = |&channel: &ChannelNo| {
                let upstream = channels[channel.place()].upstream.unwrap_or(0);
                let expected = connection.outlook.get(&channel).copied().unwrap_or(0);
                Entry { channel, upstream, expected }
            };
            let entries: Vec<Entry> = told.iter().map(entry).collect();
            if connection.link.stamps.agreed && !entries.is_empty() {
                connection.link.queue(&Frame::Contract(&contract::write(None, &entries)));
            }
        }
    }
}

impl Connection {
    /// What afec says of the way of datagrams to this participant: the channels that it says something new of.
    fn heed_path(&mut self) -> BTreeSet<ChannelNo> {
        let mut news = BTreeSet::new();
        while let Some(notice) = self.link.datagrams.as_mut().and_then(Datagrams::notice) {
            self.outlook.insert(notice.channel, notice.outlook());
            news.insert(notice.channel);
        }
        news
    }
}

impl Upstream {
    pub(super) fn at(index: Index, born: Duration) -> Self {
        Upstream {
            course: Course::at(index, born),
            tally: Tally { judged: 1, ..Tally::default() },
            spans: [Tally::default(); 2],
            span: 0,
        }
    }

    /// What became of the messages of the last ten to twenty seconds.
    #[cfg(feature = "describe")]
    pub(super) fn recent(&self) -> Tally {
        let mut recent = self.tally;
        self.spans.iter().for_each(|span| recent.add(*span));
        recent
    }

    /// What came since the last time. Called every second.
    fn take(&mut self, now: Duration) -> Tally {
        let span = now.as_secs() / SPAN;
        if span != self.span {
            let before = if span == self.span + 1 { self.spans[0] } else { Tally::default() };
            self.spans = [Tally::default(), before];
            self.span = span;
        }
        let tally = core::mem::take(&mut self.tally);
        self.spans[0].add(tally);
        tally
    }

    pub(super) fn came(&mut self, now: Duration, index: Index, age: Duration, qos: &Qos) {
        self.course.count(now, index, age, qos, &mut self.tally);
    }
}
