//! One random session: who joins, which messages are sent, and what goes wrong.

use std::time::Duration;

use groupwire_session::client::{
    ChannelId, ChannelOptions, Config as ClientConfig, Outgoing, Recipient, Sent,
};
use groupwire_session::codecs::{ALL, Choice, Filter};
use groupwire_session::{Access, Compress, Kind, Limits, ParticipantId, Qos, Rate, Timing, room};

use crate::app::{App, Taint};
use crate::messages::message;
use crate::model::Model;
use crate::quotas::{FLOODER, Play};
use crate::random::Random;
use crate::verdict::{judge, judge_calm};
use crate::world::{MS, Path, World};

/// The seeds from 1 up to this one have recorded packets. In sessions of later seeds clients begin
/// plain.
pub(crate) const SEEDS: u64 = 1000;

/// In sessions of seeds beyond this one participants have quotas.
pub(crate) const QUOTA_SEEDS: u64 = 1_000_000;

/// In sessions of seeds beyond this one, rooms are large with few participants, and participants
/// have no quotas.
pub(crate) const LARGE_SEEDS: u64 = 2_000_000;

/// In sessions of seeds beyond this one, people also send direct transactions, in rooms of any
/// size.
pub(crate) const DIRECT_SEEDS: u64 = 3_000_000;

/// In sessions of seeds beyond this one, the room has mirrors, in addition to all of that.
pub(crate) const MIRROR_SEEDS: u64 = 4_000_000;

/// Sessions use the first codecs of [`ALL`], of which there were 13 when the packets were recorded,
/// so that a further codec changes no recorded session.
const CODECS: u64 = 13;

/// The result of a session, for comparisons and statistics.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Outcome {
    /// Of all packets and messages.
    pub(crate) digest: u64,
    /// Hash of the packets alone.
    pub(crate) packets: u64,
    pub(crate) delivered: u64,
    /// Datagrams of fan-out groups.
    pub(crate) shared: u64,
    /// The people who were slowed down because of a quota.
    pub(crate) limited: usize,
    /// The number of departure entries.
    pub(crate) departures: usize,
    /// How often somebody was told the number of participants of a large room.
    pub(crate) counted: u64,
    /// The number of direct transactions that came to their receivers.
    pub(crate) whispers: u64,
}

struct Story {
    random: Random,
    world: World,
    /// The most people that join.
    most: usize,
    said: usize,
    /// Limits are so low that awareness is dropped.
    is_tight: bool,
    /// The most memory that the room's limits permit (law 3).
    most_memory: usize,
    /// True if transports garble packets, which is so in few sessions.
    lies: bool,
    /// True if many people have the same channels, and most have datagrams: then there are fan-out
    /// groups.
    is_crowd: bool,
    /// True if nobody leaves and nothing breaks: then nothing may be missing.
    is_calm: bool,
    /// Draws which channels are closed and opened again, in every fourth session. It is separate
    /// from `random`, so that the other sessions did not change when it was added.
    closing: Option<Random>,
    /// Draws which clients begin plain and which call `complete` later, in sessions beyond the
    /// recorded ones. It is separate from `random`, too.
    plain: Option<Random>,
    /// The people whose clients are still plain.
    plain_ones: Vec<usize>,
    /// Draws which people leave, in sessions whose channels record departures (W113). It is
    /// separate from `random`, too.
    leaving: Option<Random>,
    /// Draws who asks for pages, in sessions beyond [`LARGE_SEEDS`].
    large: Option<Random>,
    /// Draws the direct transactions, in sessions beyond [`DIRECT_SEEDS`].
    whispering: Option<Random>,
    /// The quotas, in sessions beyond [`QUOTA_SEEDS`].
    quotas: Option<Play>,
}

/// Plays the session of a seed and panics if a law is broken.
pub(crate) fn play(seed: u64, is_loud: bool) -> Outcome {
    let mut story = Story::new(seed);
    story.world.model.is_loud = is_loud;
    let steps = 8 + story.random.below(40);
    for _ in 0..steps {
        story.step();
        story.close_or_open();
        story.complete();
        story.leave();
        story.flood();
        story.whisper();
        story.ask_for_page();
        story.world.cut_mirror();
        let pause = MS * story.random.below(250) as u32;
        story.world.run(pause);
    }
    story.settle();
    story.page_through();
    story.judge_quotas();
    judge(&mut story.world, !story.is_tight);
    if story.is_calm && !story.is_tight && story.world.room.stats().expired == 0 {
        judge_calm(&story.world);
    }
    let (memory, most) = (story.world.memory, story.most_memory);
    assert!(memory <= most, "law 3: the room holds {memory} of at most {most} bytes");
    let World { digest, packets, ref model, .. } = story.world;
    let (delivered, shared, counted) = (model.delivered, model.shared, model.counted);
    let whispers = model.whispers;
    let departures = model.order.values().filter(|one| one.departed.is_some()).count();
    let limited = story.world.limited.len();
    Outcome { digest, packets, delivered, shared, limited, departures, counted, whispers }
}

impl Story {
    fn new(seed: u64) -> Self {
        let mut random = Random::new(seed);
        let mut config = room::Config::new("laws", 100);
        config.timing = Timing {
            tick: MS * [0, 0, 20, 40, 40, 200][random.below(6) as usize],
            ..Timing::default()
        };
        let is_tight = random.chance(12);
        config.limits = Limits {
            snapshot_after: [15, 40, 2000][random.below(3) as usize],
            max_former: [1, 64][random.below(2) as usize],
            ..Limits::default()
        };
        config.share_stream_above = [0, 1, 2, 4, 4][random.below(5) as usize];
        config.share_datagrams_above = [0, 1, 3, 16][random.below(4) as usize];
        if is_tight {
            config.limits.max_awareness_bytes = 6000;
            config.limits.max_keys = 3;
            config.limits.max_log_bytes = 9000;
            config.limits.max_snapshot = 5000;
            // Fan-out groups keep far more, with limits of their own.
            (config.share_stream_above, config.share_datagrams_above) = (usize::MAX, usize::MAX);
        }
        let is_crowd = !is_tight && random.chance(20);
        if is_crowd {
            config.share_datagrams_above = random.below(4) as usize;
        }
        config.compress = random.chance(94);
        let codecs = if is_tight { 1 } else { 1 + random.below(CODECS) as usize };
        config.codecs = &ALL[..codecs];
        let Limits { max_awareness_bytes, max_log_bytes, max_snapshot, .. } = config.limits;
        let most_memory = max_awareness_bytes + max_log_bytes;
        // Packed messages and snapshots (W49, W55), and the memory of codecs.
        let most_memory = most_memory + (1 << 20);
        let most_memory = most_memory + if codecs > 1 { (8 << 20) + (4 << 20) } else { 0 };
        let mut channels = channels(&mut random);
        // In every second session beyond the recorded ones; there, people that do not come back
        // soon have left.
        if seed > SEEDS && seed.is_multiple_of(2) {
            config.timing.away = MS * 1500;
            let transactions = channels.iter_mut().filter(|qos| qos.kind == Kind::Transaction);
            transactions.for_each(|qos| qos.departures = true);
        }
        let transactions = channels.iter().filter(|qos| qos.kind == Kind::Transaction).count();
        let most_memory = most_memory + max_snapshot * transactions;
        let most = match random.below(100) {
            _ if is_crowd => 6 + random.below(8),
            0..70 => 2 + random.below(4),
            70..98 => 5 + random.below(8),
            _ => 20 + random.below(21),
        };
        let lies = random.chance(15);
        let is_calm = !lies && random.chance(15);
        let mut large = (seed > LARGE_SEEDS).then(|| Random::new(seed ^ 0x1a43e));
        if let Some(random) = &mut large {
            config.announce_everybody_up_to = random.below(6) as usize;
        }
        let quotas = (seed > QUOTA_SEEDS && large.is_none())
            .then(|| Play::new(Random::new(seed ^ 0x0907a), most));
        // The awareness of a participant that is slowed down comes late, or is dropped while it
        // waits.
        let is_calm = is_calm && quotas.is_none() && seed <= MIRROR_SEEDS;
        let mirrors = if seed > MIRROR_SEEDS { 1 + seed as usize % 3 } else { 0 };
        config.quotas = quotas.as_ref().map(|play| play.quotas).unwrap_or_default();
        let world = World::new(seed, config, Model::new(channels, 100), mirrors);
        let mut story = Story {
            random,
            world,
            most: most as usize,
            said: 0,
            is_tight,
            most_memory,
            lies,
            is_crowd,
            is_calm,
            closing: (seed % 4 == 3 && !is_calm).then(|| Random::new(!seed)),
            plain: (seed > SEEDS).then(|| Random::new(seed ^ 0x91a1)),
            plain_ones: Vec::new(),
            leaving: (seed > SEEDS && seed.is_multiple_of(2)).then(|| Random::new(seed ^ 0x1ea5e)),
            large,
            whispering: (seed > DIRECT_SEEDS).then(|| Random::new(seed ^ 0xd14ec7)),
            quotas,
        };
        if story.quotas.is_some() {
            // Ages do not count the time for which a transport was not read.
            story.world.model.doubt = Duration::from_secs(3600);
        }
        if mirrors > 0 {
            // Ages do not count the time between servers, in either direction, and mirrors have
            // ticks of their own.
            story.world.model.doubt += MS * 400;
            story.world.model.unseen += MS * 400;
        }
        story.world.model.is_calm = is_calm;
        story.world.model.parting = seed / 7 % 4;
        if is_calm {
            story.world.model.unseen = Duration::ZERO;
        }
        // The first person makes the channels before anything disturbs.
        story.join();
        story.world.run(MS * 200);
        let first = if most > 15 || is_crowd { most * 3 / 4 } else { story.random.below(most) };
        (0..first).for_each(|_| story.join());
        story
    }

    fn step(&mut self) {
        let people = self.world.people.len();
        let at = self.random.below(people as u64) as usize;
        let is_gone = self.world.model.apps[at].is_gone;
        let what = self.random.below(100);
        match what {
            // In calm sessions, the disturbances are replaced by messages.
            6..28 | 36..38 if self.is_calm => self.talk(at),
            0..6 if people < self.most => self.join(),
            6..10 => {
                let later = MS * [0, 0, 300, 3000][self.random.below(4) as usize];
                self.world.cut(at, later);
            }
            10..12 => self.world.black_hole(at),
            12..14 if !is_gone && at > 0 => {
                self.world.model.apps[at].is_gone = true;
                self.world.people[at].client.leave();
            }
            14 if self.random.chance(50) => self.world.restart(),
            14 => {
                let time = MS * self.random.below(900) as u32;
                self.world.shut_down(time);
            }
            15..20 => {
                let path = self.path();
                self.world.change_transport(at, path);
            }
            20..23 => {
                let reachable = self.random.chance(50);
                self.world.people[at].reachable = reachable;
            }
            23..28 => {
                let time = MS * self.random.below(2500) as u32;
                let way = self.random.below(2) as usize;
                self.world.model.doubt = self.world.model.doubt.max(time * 2);
                self.world.stall(at, way, time);
            }
            28..31 if !is_gone => self.open_late(at),
            31..34 if !is_gone => self.compress(at),
            34..36 if !is_gone => {
                let presence = format!("{at} is at {}", self.random.below(100)).into_bytes();
                self.world.people[at].client.set_presence(&presence).unwrap();
                self.world.model.apps[at].presence = presence;
            }
            36..38 if self.lies && at > 0 => self.lie(at),
            38 => self.world.people.iter_mut().for_each(|person| person.reachable = true),
            39 if !is_gone => self.change_qos(at),
            40 if !is_gone => self.limit_rate(at),
            41..43 => {
                let time = MS * self.random.below(1500) as u32;
                self.world.run(time);
            }
            _ if !is_gone => self.talk(at),
            _ => {}
        }
    }

    fn join(&mut self) {
        let at = self.world.people.len();
        let random = &mut self.random;
        let codecs = &ALL[..1 + random.below(CODECS) as usize];
        let presence = format!("person {at}").into_bytes();
        // W100: the server knows the users of some, by their tokens.
        let user = at.is_multiple_of(2).then(|| format!("user {at}"));
        let token = user.clone().unwrap_or_default().into_bytes();
        let mut config =
            ClientConfig { codecs, token, presence: presence.clone(), ..ClientConfig::new("laws") };
        config.seed = random.next();
        config.compress = random.chance(95);
        let delay = MS * random.below(60) as u32;
        if self.plain.as_mut().is_some_and(|random| random.chance(60)) {
            config.plain = true;
            self.plain_ones.push(at);
        }
        let path = self.path();
        let count = self.world.model.channels.len();
        self.world.add(config, path, delay);
        self.world.model.apps.push(App::new(count, user, presence));
        for channel in 0..count {
            if at == 0 || self.is_crowd || self.random.chance(85) {
                self.open(at, channel);
            }
        }
    }

    fn open_late(&mut self, at: usize) {
        let missing = self.world.model.apps[at].ids.iter().position(Option::is_none);
        if let Some(channel) = missing {
            self.open(at, channel);
        }
    }

    fn open(&mut self, at: usize, channel: usize) {
        let access = match self.random.below(20) {
            0 if at > 0 => Access { publish: false, subscribe: true },
            1 if at > 0 => Access { publish: true, subscribe: false },
            _ => Access::FULL,
        };
        let alike = if self.is_crowd { 97 } else { 70 };
        let compress = if self.random.chance(alike) { Compress::Template } else { self.coding() };
        let client = &mut self.world.people[at].client;
        let qos = self.world.model.channels[channel];
        // The client refuses a codec that is not there, and a level that the codec does not have.
        let options = ChannelOptions { access, compress };
        let name = channel.to_string();
        let id = client.channel_with(&name, qos, options);
        let id = id.or_else(|_| {
            let options = ChannelOptions { access, ..ChannelOptions::default() };
            client.channel_with(&name, qos, options)
        });
        let id = id.unwrap();
        let app = &mut self.world.model.apps[at];
        assert_eq!(id, ChannelId(app.channels.len() as u32));
        app.channels.push(channel);
        app.ids[channel] = Some(id);
        (app.reads[channel], app.writes[channel]) = (access.subscribe, access.publish);
        self.provide(at, channel);
    }

    /// The application makes the part of the snapshot that a channel belongs to, if it has all of
    /// its channels open.
    fn provide(&mut self, at: usize, channel: usize) {
        let model = &self.world.model;
        let Some(name) = model.part_of(channel) else { return };
        let app = &model.apps[at];
        let usable = |channel: usize| app.ids[channel].filter(|_| app.closed[channel].is_none());
        let ids: Option<Vec<ChannelId>> = model.part(&name).into_iter().map(usable).collect();
        if let Some(ids) = ids {
            self.world.people[at].client.provide(&name, &ids).unwrap();
        }
    }

    /// A client that began plain uses the rest from now on, and moves to another transport for it,
    /// as a page does.
    fn complete(&mut self) {
        let Some(random) = self.plain.as_mut() else { return };
        if self.plain_ones.is_empty() || random.chance(70) {
            return;
        }
        let at = self.plain_ones.swap_remove(random.below(self.plain_ones.len() as u64) as usize);
        self.world.people[at].client.complete();
        if !self.is_calm {
            let path = self.world.people[at].path;
            self.world.change_transport(at, path);
        }
    }

    /// Somebody closes a channel, or opens again one that it closed.
    fn close_or_open(&mut self) {
        let Some(random) = &mut self.closing else { return };
        let at = random.below(self.world.people.len() as u64) as usize;
        let app = &mut self.world.model.apps[at];
        if app.is_gone || app.channels.is_empty() || random.chance(50) {
            return;
        }
        let channel = app.channels[random.below(app.channels.len() as u64) as usize];
        match app.ids[channel] {
            Some(id) if app.closed[channel].is_none() => {
                app.closed[channel] = Some(app.writes[channel]);
                app.writes[channel] = false;
                app.has_closed = true;
                self.world.people[at].client.close(id).unwrap();
            }
            _ => self.open_again(at, channel),
        }
    }

    fn open_again(&mut self, at: usize, channel: usize) {
        let model = &mut self.world.model;
        let (app, qos) = (&mut model.apps[at], model.channels[channel]);
        let Some(writes) = app.closed[channel].take() else { return };
        app.writes[channel] = writes;
        let access = Access { publish: writes, subscribe: app.reads[channel] };
        let options = ChannelOptions { access, ..ChannelOptions::default() };
        let client = &mut self.world.people[at].client;
        let id = client.channel_with(&channel.to_string(), qos, options).unwrap();
        assert_eq!(Some(id), self.world.model.apps[at].ids[channel]);
        self.provide(at, channel);
    }

    fn coding(&mut self) -> Compress {
        let codec = ALL[self.random.below(CODECS) as usize].number();
        let filter = Filter::ALL[self.random.below(Filter::ALL.len() as u64) as usize];
        match self.random.below(6) {
            0 | 1 => Compress::Template,
            2 => Compress::Off,
            3 => Compress::Auto,
            4 => Compress::Named(Choice::codec(codec)),
            _ => Compress::Named(Choice { filter, ..Choice::codec(codec) }),
        }
    }

    fn compress(&mut self, at: usize) {
        let compress = self.coding();
        let count = self.world.model.apps[at].channels.len() as u64;
        let client = &mut self.world.people[at].client;
        match self.random.below(8) {
            // The client can read the codecs that it could read before.
            0 => client.set_codecs(ALL),
            _ if count > 0 => {
                let channel = ChannelId(self.random.below(count) as u32);
                let _ = client.compress(channel, compress);
            }
            _ => {}
        }
    }

    /// Changes the QoS of a channel for all. The deadline stays, because the model judges ages by
    /// it.
    fn change_qos(&mut self, at: usize) {
        let Some(channel) = self.any_channel(at) else { return };
        let before = self.world.model.channels[channel];
        let qos = Qos {
            loss: if before.kind == Kind::Transaction { 0 } else { self.random.below(300) as u16 },
            priority: self.random.below(256) as u8,
            ..before.rate(0, [0, 5, 30][self.random.below(3) as usize])
        };
        if let Some(id) = self.world.model.apps[at].ids[channel] {
            self.world.people[at].client.set_qos(id, qos).unwrap();
        }
    }

    /// A person asks for a lower rate of a channel, or for all values again.
    fn limit_rate(&mut self, at: usize) {
        let Some(channel) = self.any_channel(at) else { return };
        let rate = [None, Some(Rate::per_second(2)), Some(Rate::per_second(8))]
            [self.random.below(3) as usize];
        if let Some(id) = self.world.model.apps[at].ids[channel] {
            // The client refuses a rate limit for a channel that does not conflate.
            let _ = self.world.people[at].client.limit_rate(id, rate);
        }
    }

    /// One that the person has open.
    fn any_channel(&mut self, at: usize) -> Option<usize> {
        let app = &self.world.model.apps[at];
        let is_open = |channel: &&usize| app.closed[**channel].is_none();
        let open: Vec<usize> = app.channels.iter().filter(is_open).copied().collect();
        let count = open.len() as u64;
        (count > 0).then(|| open[self.random.below(count) as usize])
    }

    /// Half of the transports have datagrams. Some paths lose, repeat and delay datagrams.
    fn path(&mut self) -> Path {
        let random = &mut self.random;
        let sizes = [[0, 0, 0, 256, 600, 1200], [0, 1200, 1200, 1200, 1200, 1200]];
        let max = sizes[usize::from(self.is_crowd)][random.below(6) as usize];
        let bad = random.chance(50) && !self.is_calm;
        let (lost, repeated, jitter_ms) =
            if bad { (random.below(60), random.below(30), random.below(200)) } else { (0, 0, 0) };
        Path { max, lost, repeated, jitter_ms, damaged: 0, garbled: [0, 0] }
    }

    /// From now on, a person's transports garble packets, or the person or the room is handed
    /// nonsense.
    fn lie(&mut self, at: usize) {
        let what = self.random.below(5);
        let taint = if what < 2 { Taint::Datagrams } else { Taint::Stream };
        let app = &mut self.world.model.apps[at];
        app.taint = app.taint.max(taint);
        let way = self.random.below(2) as usize;
        let mut nonsense: Vec<u8> =
            (0..self.random.below(200)).map(|_| self.random.next() as u8).collect();
        // Known types of frames come up more often than by chance.
        if let Some(tag) = nonsense.first_mut() {
            *tag = 0x80 | self.random.below(0x28) as u8;
        }
        let mut path = self.path();
        match what {
            0 => self.world.inject_datagram(at, way, &nonsense),
            1 => {
                path = Path { max: 1200, damaged: 30, ..path };
                self.world.change_transport(at, path);
            }
            2 => self.world.inject(at, way, &nonsense),
            _ => {
                path.garbled[way] = 1 + self.random.below(20);
                self.world.change_transport(at, path);
            }
        }
    }

    fn talk(&mut self, at: usize) {
        let open = self.world.model.apps[at].channels.clone();
        if open.is_empty() {
            return;
        }
        let channel = open[self.random.below(open.len() as u64) as usize];
        let count = 1 + self.random.below(8);
        for _ in 0..count {
            let channel = match self.random.below(3) {
                0 => open[self.random.below(open.len() as u64) as usize],
                _ => channel,
            };
            let app = &self.world.model.apps[at];
            let Some(id) = app.ids[channel].filter(|_| app.writes[channel]) else { continue };
            self.said += 1;
            let (bytes, text) = message(&mut self.random, self.said, 60_000);
            let keys: [Option<&[u8]>; 4] = [None, Some(b""), Some(b"one"), Some(b"two")];
            let key = keys[self.random.below(4) as usize];
            let priority = self.random.chance(5).then(|| self.random.below(256) as u8);
            let message = Outgoing { bytes: &bytes, text, key, priority, to: None };
            let now = self.world.now;
            match self.world.people[at].client.send(now, id, message).unwrap() {
                Sent::Accepted | Sent::Conflated => {
                    self.world.model.said(now, at, channel, message)
                }
                Sent::NotNow => {}
            }
            if self.random.chance(50) {
                let pause = MS * self.random.below(40) as u32;
                self.world.run(pause);
            }
        }
    }

    /// People send direct transactions to participants, which may be away or have left.
    fn whisper(&mut self) {
        let Some(random) = self.whispering.as_mut() else { return };
        for _ in 0..random.below(6) {
            let at = random.below(self.world.people.len() as u64) as usize;
            let app = &self.world.model.apps[at];
            let channels = &self.world.model.channels;
            let writes = |channel: &usize| {
                app.writes[*channel] && channels[*channel].kind == Kind::Transaction
            };
            let open: Vec<usize> = app.channels.iter().copied().filter(writes).collect();
            if app.is_gone || open.is_empty() {
                continue;
            }
            let channel = open[random.below(open.len() as u64) as usize];
            let Some(id) = app.ids[channel] else { continue };
            let other = random.below(self.world.people.len() as u64) as usize;
            let anybody = ParticipantId(1 + random.below(12) as u32);
            let participant = match random.chance(80) {
                true => ParticipantId(self.world.model.apps[other].participant),
                false => anybody,
            };
            if participant == ParticipantId(0) {
                // The client has not joined yet.
                continue;
            }
            self.said += 1;
            let tag = self.said as u32;
            let size = [0, 0, 30, 1000, 20_000][random.below(5) as usize];
            let bytes = format!("whisper {tag} {}", "and so on".repeat(size / 9)).into_bytes();
            let to = Some(Recipient { participant, tag });
            let key = random.chance(20).then_some(&b"one"[..]);
            let message = Outgoing { bytes: &bytes, text: true, key, to, ..Outgoing::default() };
            let now = self.world.now;
            match self.world.people[at].client.send(now, id, message).unwrap() {
                Sent::NotNow => {}
                _ => self.world.model.said(now, at, channel, message),
            }
        }
    }

    /// Lets a participant leave, or stay away for longer than the room waits for it.
    fn leave(&mut self) {
        let Some(random) = self.leaving.as_mut().filter(|_| !self.is_calm) else { return };
        let at = random.below(self.world.people.len() as u64) as usize;
        if at == 0 || self.world.model.apps[at].is_gone || random.chance(85) {
            return;
        }
        if random.chance(50) {
            self.world.model.apps[at].is_gone = true;
            self.world.people[at].client.leave();
        } else {
            self.world.cut(at, MS * 2500);
        }
    }

    /// The flooder sends many transactions at once.
    fn flood(&mut self) {
        let Some(play) = self.quotas.as_mut().filter(|play| play.left > 0) else { return };
        if play.random.chance(40) {
            return;
        }
        let count = play.left.min(1000);
        let model = &self.world.model;
        let Some(app) = model.apps.get(FLOODER).filter(|app| !app.is_gone) else { return };
        let mut open = app.channels.iter().copied().filter(|&channel| {
            app.writes[channel] && model.channels[channel].kind == Kind::Transaction
        });
        let Some(channel) = open.next() else { return };
        let Some(id) = app.ids[channel] else { return };
        play.left -= count;
        for _ in 0..count {
            self.said += 1;
            let bytes = self.said.to_string().into_bytes();
            let message = Outgoing { bytes: &bytes, text: true, ..Outgoing::default() };
            let now = self.world.now;
            match self.world.people[FLOODER].client.send(now, id, message).unwrap() {
                Sent::NotNow => break,
                _ => self.world.model.said(now, FLOODER, channel, message),
            }
        }
    }

    /// W99: only the flooder is slowed down.
    fn judge_quotas(&self) {
        let Some(play) = &self.quotas else { return };
        let limited = &self.world.limited;
        let is_fair = play.quotas.participant.bytes < u64::MAX || self.lies;
        assert!(
            is_fair || limited.iter().all(|&at| at == FLOODER),
            "W99: {limited:?} are slowed down by {:?}",
            play.quotas
        );
    }

    /// A person asks for a page of participants.
    fn ask_for_page(&mut self) {
        let Some(random) = &mut self.large else { return };
        if !random.chance(20) {
            return;
        }
        let at = random.below(self.world.people.len() as u64) as usize;
        let after = ParticipantId(random.below(10) as u32);
        self.world.people[at].client.want_page(after);
    }

    /// All people ask for the first page, which is the only one in a room of this size.
    fn page_through(&mut self) {
        if self.large.is_none() {
            return;
        }
        self.world.model.has_pages = true;
        for at in 0..self.world.people.len() {
            self.world.model.apps[at].pages = Default::default();
            self.world.people[at].client.want_page(ParticipantId(0));
        }
        self.world.run(Duration::from_secs(2));
    }

    /// Removes all faults, then leaves time to reconnect and to catch up.
    fn settle(&mut self) {
        for at in 0..self.world.people.len() {
            let closed = self.world.model.apps[at].closed.len();
            (0..closed).for_each(|channel| self.open_again(at, channel));
        }
        for person in &mut self.world.people {
            person.reachable = true;
            person.path.garbled = [0, 0];
        }
        for at in 0..self.world.people.len() {
            if self.world.model.apps[at].taint != Taint::None {
                // A new transport clears the state that garbled packets made.
                self.world.cut(at, Duration::ZERO);
            }
        }
        // Within 6 s the ends notice silent transports (W35).
        self.world.run(Duration::from_secs(7));
        let patience = if self.quotas.is_some() { 400 } else { 40 };
        for _ in 0..patience {
            if self.world.is_settled() {
                break;
            }
            self.world.run(Duration::from_secs(1));
        }
        // A participant whose connection broke meanwhile is kept for 10 s, and then said to have
        // left. The recorded sessions end earlier.
        let rest = if self.plain.is_some() { 11 } else { 3 };
        self.world.run(Duration::from_secs(rest));
    }
}

/// The channels of the session. Every application has the first two.
fn channels(random: &mut Random) -> Vec<Qos> {
    let mut channels = vec![Qos::transaction(), Qos::awareness().rate(0, 25)];
    for _ in 0..1 + random.below(4) {
        let deadline = Duration::from_millis(50 + random.below(400));
        let loss = random.below(200) as u16;
        channels.push(match random.below(8) {
            0 => Qos::transaction().private(),
            1 => Qos::transaction().rate(0, 10),
            2 => Qos::awareness().deadline(deadline).loss_per_mille(loss),
            3 => Qos::awareness().aggregate(),
            4 => Qos::awareness().aggregate().deadline(deadline).loss_per_mille(loss),
            5 => Qos::awareness().private().rate(0, 10),
            6 => Qos::awareness().aggregate().private().rate(5, 30),
            _ => {
                let least = [1, 20][random.below(2) as usize];
                Qos::awareness().rate(least, 60).priority(random.below(256) as u8)
            }
        });
    }
    channels
}
