//! A room and its clients over links with limited rates, in simulated time.

use std::collections::VecDeque;
use std::time::Duration;

use groupwire_session::client::{ChannelId, Client, Config as ClientConfig, Event, Input, Output};
use groupwire_session::room::{self, Room};
use groupwire_session::{AllowAll, Identity, Kind, LinkId, Opening, Qos};
use groupwire_sim::{Capacity, Link, LinkConfig};

use super::secrets::Drawn;

/// One direction of a path. It accepts a packet when the one before has been sent.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Way {
    /// The rate in bytes per second.
    pub(crate) rate: f64,
    pub(crate) delay: Duration,
}

impl Way {
    fn config(self) -> LinkConfig {
        let (delay, capacity) = (self.delay, Capacity::BytesPerSecond(self.rate));
        LinkConfig { delay, capacity, header: 0, ..LinkConfig::default() }
    }
}

#[derive(Debug)]
struct Lane {
    link: Link,
    /// The time at which all packets have been sent.
    busy: Duration,
    /// For the packets under way: the times at which the link accepts them, and at which they
    /// arrive.
    taken: VecDeque<Duration>,
    arrives: VecDeque<(Duration, Vec<u8>)>,
    bytes: usize,
    /// The largest packet in bytes.
    largest: usize,
    /// The number of frames of each type.
    frames: [usize; 64],
}

impl Lane {
    fn new(way: Way) -> Self {
        Lane {
            link: Link::new(way.config(), 0),
            busy: Duration::ZERO,
            taken: VecDeque::new(),
            arrives: VecDeque::new(),
            bytes: 0,
            largest: 0,
            frames: [0; 64],
        }
    }

    fn launch(&mut self, now: Duration, packet: Vec<u8>) {
        let arrives = self.link.send(now, packet.len()).first.expect("nothing is lost");
        self.taken.push_back(self.busy.max(now));
        self.busy = arrives - self.link.config().delay;
        self.bytes += packet.len();
        self.largest = self.largest.max(packet.len());
        self.arrives.push_back((arrives, packet));
    }

    fn next(&self) -> Option<Duration> {
        let arrives = self.arrives.front().map(|(at, _)| *at);
        [self.taken.front().copied(), arrives].into_iter().flatten().min()
    }
}

/// A participant and its link.
pub(crate) struct Person {
    pub(crate) client: Client,
    link: LinkId,
    is_open: bool,
    joined: bool,
    up: Lane,
    down: Lane,
    way: Way,
    pub(crate) events: Vec<(Duration, Event)>,
    /// The part of the snapshot that it uploads when it is asked.
    pub(crate) state: Vec<u8>,
    timer: Option<Duration>,
}

impl Person {
    /// The bytes that were sent to it and by it over its present transport.
    pub(crate) fn bytes(&self) -> [usize; 2] {
        [self.down.bytes, self.up.bytes]
    }

    /// The largest packet that it was sent.
    pub(crate) fn largest(&self) -> usize {
        self.down.largest
    }

    /// The number of frames of a type that were sent to it and by it.
    pub(crate) fn frames(&self, kind: u8) -> [usize; 2] {
        [self.down.frames[kind as usize], self.up.frames[kind as usize]]
    }

    pub(crate) fn snapshot(&self) -> Option<(Duration, &[u8])> {
        self.events.iter().find_map(|(at, event)| match event {
            Event::Snapshot { bytes, .. } => Some((*at, &bytes[..])),
            _ => None,
        })
    }

    pub(crate) fn synced(&self) -> Option<Duration> {
        let found = self.events.iter().find(|(_, event)| *event == Event::Synced { channel: None });
        found.map(|(at, _)| *at)
    }

    pub(crate) fn messages(&self, channel: ChannelId) -> Vec<&[u8]> {
        let of = self.events.iter().filter_map(|(_, event)| match event {
            Event::Message(message) if message.channel == channel => Some(&message.bytes[..]),
            _ => None,
        });
        of.collect()
    }

    pub(crate) fn errors(&self) -> Vec<String> {
        let errors = self.events.iter().filter_map(|(_, event)| match event {
            Event::Error { error, .. } => Some(error.to_string()),
            _ => None,
        });
        errors.collect()
    }
}

/// A room and its people.
pub(crate) struct Paths {
    pub(crate) now: Duration,
    pub(crate) room: Room,
    pub(crate) people: Vec<Person>,
    pub(crate) log: Vec<room::Event>,
    timer: Option<Duration>,
    last_link: LinkId,
}

impl Paths {
    pub(crate) fn new(config: room::Config) -> Self {
        Paths {
            now: Duration::ZERO,
            room: Room::new(config, Box::new(AllowAll)),
            people: Vec::new(),
            log: Vec::new(),
            timer: None,
            last_link: LinkId(0),
        }
    }

    pub(crate) fn add(&mut self, config: ClientConfig, way: Way) -> usize {
        self.people.push(Person {
            client: Client::new(self.now, config).unwrap(),
            link: LinkId(0),
            is_open: false,
            joined: false,
            up: Lane::new(way),
            down: Lane::new(way),
            way,
            events: Vec::new(),
            state: Vec::new(),
            timer: None,
        });
        self.people.len() - 1
    }

    pub(crate) fn channel(&mut self, person: usize, name: &str, qos: Qos) -> ChannelId {
        let client = &mut self.people[person].client;
        let channel = client.channel(name, qos).unwrap();
        if qos.kind == Kind::Transaction {
            client.provide(name, &[channel]).unwrap();
        }
        channel
    }

    /// The transport breaks, and packets under way are lost.
    pub(crate) fn cut(&mut self, person: usize) {
        let one = &mut self.people[person];
        let link = one.link;
        one.is_open = false;
        if std::mem::take(&mut one.joined) {
            self.room.handle_input(self.now, room::Input::Closed { link });
        }
        self.people[person].client.handle_input(self.now, Input::Closed);
        self.drain_room();
        self.drain(person);
    }

    /// Hands arbitrary bytes to the room as the person's next packet.
    pub(crate) fn inject(&mut self, person: usize, packet: &[u8]) {
        let link = self.people[person].link;
        self.tell_room(room::Input::Packet { link, packet });
    }

    /// Hands arbitrary bytes to the person as the room's next packet.
    pub(crate) fn inject_down(&mut self, person: usize, packet: &[u8]) {
        self.tell(person, &Input::Packet(packet));
    }

    /// Changes the rate for packets that are sent from now on.
    pub(crate) fn change(&mut self, person: usize, rate: f64) {
        let one = &mut self.people[person];
        one.way.rate = rate;
        for lane in [&mut one.up, &mut one.down] {
            lane.link.change(one.way.config());
        }
    }

    pub(crate) fn run(&mut self, time: Duration) {
        self.run_until(time, |_| false);
    }

    /// Runs for this time, or until `done` returns true. Returns the last result of `done`.
    pub(crate) fn run_until(&mut self, time: Duration, done: impl Fn(&Paths) -> bool) -> bool {
        let end = self.now + time;
        for person in 0..self.people.len() {
            self.drain(person);
        }
        self.drain_room();
        while !done(self) {
            let lanes = self.people.iter().flat_map(|one| [one.up.next(), one.down.next()]);
            let timers = self.people.iter().map(|one| one.timer).chain([self.timer]);
            let Some(next) = lanes.chain(timers).flatten().min().filter(|next| *next <= end) else {
                self.now = end;
                return done(self);
            };
            self.now = self.now.max(next);
            self.step();
        }
        true
    }

    fn step(&mut self) {
        for at in 0..self.people.len() {
            self.step_up(at);
            self.step_down(at);
            if self.people[at].timer.is_some_and(|due| due <= self.now) {
                self.tell(at, &Input::Timeout);
            }
        }
        if self.timer.is_some_and(|due| due <= self.now) {
            self.tell_room(room::Input::Timeout);
        }
    }

    fn step_up(&mut self, at: usize) {
        while due(&mut self.people[at].up.taken, self.now) {
            self.tell(at, &Input::Sent);
        }
        while let Some(packet) = arrived(&mut self.people[at].up.arrives, self.now) {
            let one = &mut self.people[at];
            count(&mut one.up.frames, &packet);
            let link = one.link;
            if !one.is_open {
                continue;
            }
            if std::mem::replace(&mut one.joined, true) {
                self.tell_room(room::Input::Packet { link, packet: &packet });
                continue;
            }
            let opening = Opening::read(&packet).unwrap();
            let secret = [link.get() as u8; 16];
            let max_datagram = 0;
            let mut secrets = Drawn::default();
            let secrets = secrets.draw(secret);
            self.tell_room(room::Input::Join {
                link,
                opening: &opening,
                identity: &Identity::default(),
                secrets,
                max_datagram,
            });
        }
    }

    fn step_down(&mut self, at: usize) {
        while due(&mut self.people[at].down.taken, self.now) {
            let link = self.people[at].link;
            self.tell_room(room::Input::Sent { link });
        }
        while let Some(packet) = arrived(&mut self.people[at].down.arrives, self.now) {
            count(&mut self.people[at].down.frames, &packet);
            self.tell(at, &Input::Packet(&packet));
        }
    }

    fn tell_room(&mut self, input: room::Input<'_>) {
        self.room.handle_input(self.now, input);
        self.drain_room();
    }

    fn drain_room(&mut self) {
        loop {
            match self.room.poll_output() {
                room::Output::Timeout(at) => {
                    self.timer = at;
                    return;
                }
                room::Output::Event(event) => self.log.push(event),
                room::Output::Datagram { .. }
                | room::Output::Store(_)
                | room::Output::Delay { .. }
                | room::Output::Token { .. } => {}
                room::Output::Send { link, packet, body } => {
                    let packet = room::whole_packet(packet, body.as_deref());
                    if let Some(one) = self.people.iter_mut().find(|one| one.link == link) {
                        one.down.launch(self.now, packet);
                    }
                }
                room::Output::Close { link, packet, .. } => {
                    if let Some(one) = self.people.iter_mut().find(|one| one.link == link) {
                        one.down.launch(self.now, packet);
                    }
                }
            }
        }
    }

    fn tell(&mut self, at: usize, input: &Input<'_>) {
        let client = &mut self.people[at].client;
        match input {
            Input::Packet(packet) => client.handle_input(self.now, Input::Packet(packet)),
            Input::Sent => client.handle_input(self.now, Input::Sent),
            _ => client.handle_input(self.now, Input::Timeout),
        }
        self.drain(at);
    }

    fn drain(&mut self, at: usize) {
        loop {
            let (now, one) = (self.now, &mut self.people[at]);
            let output = one.client.poll_output(now);
            match output {
                Output::Timeout(due) => {
                    one.timer = due;
                    return;
                }
                Output::Dial => {
                    self.last_link = self.last_link.next();
                    (one.link, one.is_open, one.joined) = (self.last_link, true, false);
                    (one.up, one.down) = (Lane::new(one.way), Lane::new(one.way));
                    one.client.handle_input(now, Input::Opened { max_datagram: 0 });
                }
                Output::Send(packet) => one.up.launch(now, packet),
                Output::Datagram(_) => {}
                Output::Hangup => {
                    let link = one.link;
                    one.is_open = false;
                    if std::mem::take(&mut one.joined) {
                        self.room.handle_input(now, room::Input::Closed { link });
                    }
                    self.people[at].client.handle_input(now, Input::Closed);
                }
                Output::Event(event) => {
                    if let Event::SnapshotWanted { part, as_of } = &event {
                        one.client.snapshot(part, *as_of, &one.state).unwrap();
                    }
                    one.events.push((now, event));
                }
            }
        }
    }
}

fn due(times: &mut VecDeque<Duration>, now: Duration) -> bool {
    let is_due = times.front().is_some_and(|at| *at <= now);
    if is_due {
        times.pop_front();
    }
    is_due
}

fn arrived(lane: &mut VecDeque<(Duration, Vec<u8>)>, now: Duration) -> Option<Vec<u8>> {
    lane.front().is_some_and(|(at, _)| *at <= now).then(|| lane.pop_front())?.map(|(_, one)| one)
}

/// Counts the frames of a packet. The version byte of a transport's first packet is taken for a
/// tag.
fn count(frames: &mut [usize; 64], packet: &[u8]) {
    let mut rest = packet;
    while let Some((&tag, after)) = rest.split_first() {
        frames[(tag & 0x3f) as usize] += 1;
        if tag & 0x80 != 0 {
            return;
        }
        let (mut length, mut shift, mut at) = (0usize, 0, 0);
        while let Some(&byte) = after.get(at) {
            length |= usize::from(byte & 0x7f) << shift;
            (shift, at) = (shift + 7, at + 1);
            if byte & 0x80 == 0 || shift > 28 {
                break;
            }
        }
        rest = after.get(at + length..).unwrap_or_default();
    }
}

/// A document as a whiteboard keeps it: strokes and texts, as JSON.
pub(crate) fn document(size: usize, seed: u64) -> Vec<u8> {
    let mut state = seed | 1;
    let mut below = move |bound: u64| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 16) % bound
    };
    let words = ["meeting", "draft", "todo", "the", "of", "customer", "release", "please", "plan"];
    let mut json = String::from("{\"objects\":[\n");
    while json.len() < size {
        let (mut x, mut y) = (below(2000) as i64, below(1200) as i64);
        let (id, author) = (below(u64::MAX), below(20));
        if below(5) == 0 {
            let text: Vec<&str> = (0..5 + below(20)).map(|_| words[below(9) as usize]).collect();
            let text = text.join(" ");
            json += &format!(
                "{{\"id\":\"{id:012x}\",\"type\":\"text\",\"x\":{x},\"y\":{y},\"text\":\"{text}\",\"author\":{author}}},\n"
            );
            continue;
        }
        let mut points = String::new();
        for _ in 0..10 + below(40) {
            (x, y) = (x + below(21) as i64 - 8, y + below(21) as i64 - 9);
            points += &format!("[{x},{y}],");
        }
        let colour = [0x00ff_0000, 0xff00, 0xff, 0x0033_3333][below(4) as usize];
        json += &format!(
            "{{\"id\":\"{id:012x}\",\"type\":\"stroke\",\"color\":\"#{colour:06x}\",\"width\":{},\"author\":{author},\"points\":[{}]}},\n",
            1 + below(8),
            points.trim_end_matches(',')
        );
    }
    let mut bytes = json.into_bytes();
    bytes.truncate(size);
    bytes
}
