//! The messages that each participant sends: the same in each run of a seed, whatever carries them.

use std::collections::HashMap;
use std::time::Duration;

use groupwire_session::Kind;

use super::channels::{
    ADD, Channel, DELETE, EDIT, EDITED, MOVE, MOVED, POINTER, POINTER_VOICE, RESIZE, RESIZED,
    VIEWPORT,
};
use super::hand::{Hands, PointerSample};
use crate::drawing::SESSION_ID;
use crate::drawing::random::Random;
use crate::drawing::typing::Key;
use crate::sim::random::derive;

/// The time in ms by which all have joined.
pub(super) const START: f64 = 3_000.0;
/// People talk and are silent in turns of this length, in ms.
const TALK: f64 = 15_000.0;
/// Between two looks at the pointer, in ms: 25 per second, and 30 while people talk.
const LOOK: f64 = 40.0;
const LOOK_VOICE: f64 = 1000.0 / 30.0;
/// Between two looks at a text that changes, or at the viewport, in ms: 5 per second.
const SLOW_LOOK: f64 = 200.0;
/// The length to which a text in an object grows.
const LONGEST_TEXT: usize = 60;
/// 2024-06-01, in ms since 1970.
const EPOCH_MS: u64 = 1_717_200_000_000;

/// A message that an application sends.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Action {
    pub(super) at: Duration,
    /// The index of the channel.
    pub(super) channel: usize,
    /// The key of the value, on channels that conflate.
    pub(super) key: u32,
    pub(super) bytes: Vec<u8>,
}

/// A session before it is sent.
#[derive(Debug, Clone)]
pub(super) struct Script {
    pub(super) channels: Vec<Channel>,
    /// The messages of each participant, in the order of time.
    pub(super) actions: Vec<Vec<Action>>,
    pub(super) end: Duration,
    /// The sender and number of each message, by its bytes.
    known: HashMap<Vec<u8>, (usize, usize)>,
}

impl Script {
    /// The traffic that Table 1 lists, by `people` participants for `length`.
    pub(super) fn table1(
        channels: Vec<Channel>,
        hands: &Hands,
        seed: u64,
        who: usize,
        length: Duration,
    ) -> Self {
        let end = START + ms(length);
        let actions = (0..who).map(|who| Person::new(hands, seed, who).work(end));
        Self::new(channels, actions.collect(), Duration::from_secs_f64(end / 1e3))
    }

    /// The pointers of the first `senders` participants, which move all the time, 30 times per
    /// second.
    pub(super) fn pointers(
        channels: Vec<Channel>,
        hands: &Hands,
        seed: u64,
        (who, senders): (usize, usize),
        length: Duration,
    ) -> Self {
        let end = START + ms(length);
        let actions = (0..who).map(|who| {
            let mut person = Person::new(hands, seed, who);
            while who < senders && person.clock < end {
                person.look(LOOK_VOICE, 0);
            }
            person.actions
        });
        Self::new(channels, actions.collect(), Duration::from_secs_f64(end / 1e3))
    }

    /// A script of these messages of each participant, no two of which are equal.
    pub(super) fn new(channels: Vec<Channel>, actions: Vec<Vec<Action>>, end: Duration) -> Self {
        let mut known = HashMap::new();
        for (who, actions) in actions.iter().enumerate() {
            let numbered = actions.iter().enumerate();
            known.extend(numbered.map(|(number, one)| (one.bytes.clone(), (who, number))));
        }
        Script { channels, actions, end, known }
    }

    /// The sender and number of the message with these bytes.
    pub(super) fn find(&self, bytes: &[u8]) -> Option<(usize, usize)> {
        self.known.get(bytes).copied()
    }

    /// The key that an action is sent with, on a channel that conflates.
    pub(super) fn key(&self, action: &Action) -> Option<[u8; 1]> {
        let is_keyed = self.channels[action.channel].qos.kind == Kind::Awareness;
        (is_keyed && action.key > 0).then_some([action.key.to_le_bytes()[0]])
    }

    /// Messages that applications send.
    pub(super) fn messages(&self) -> usize {
        self.actions.iter().map(Vec::len).sum()
    }

    /// The mean bytes of a channel's messages; 0 if there are none.
    pub(super) fn size(&self, channel: usize) -> f64 {
        let of_channel = || self.actions.iter().flatten().filter(|one| one.channel == channel);
        let bytes: usize = of_channel().map(|action| action.bytes.len()).sum();
        bytes as f64 / of_channel().count().max(1) as f64
    }

    /// The times at which people begin to talk, or stop.
    pub(super) fn talks(&self) -> impl Iterator<Item = (Duration, bool)> {
        let times =
            (1..).map(|n| START + TALK * f64::from(n)).zip([true, false].into_iter().cycle());
        let end = self.end;
        times
            .map(|(at, talk)| (Duration::from_secs_f64(at / 1e3), talk))
            .take_while(move |(at, _)| *at < end)
    }
}

/// Whether people talk at this time.
fn is_talk(clock: f64) -> bool {
    ((clock - START) / TALK) as u64 % 2 == 1
}

fn ms(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}

struct Person<'a> {
    random: Random,
    user: String,
    motion: &'a [PointerSample],
    /// The index and the time of the pointer's place in the motion.
    place: usize,
    moved: f64,
    keys: std::iter::Cycle<std::slice::Iter<'a, Key>>,
    clock: f64,
    objects: u32,
    view: (i32, i32),
    actions: Vec<Action>,
}

impl<'a> Person<'a> {
    fn new(hands: &'a Hands, seed: u64, who: usize) -> Self {
        let id = |part| derive(seed, who as u64 * 4 + part);
        let mut random = Random::new(id(0));
        let (high, low) = (id(1), id(2));
        let user = format!(
            "{:08x}-{:04x}-4{:03x}-a{:03x}-{:012x}",
            high >> 32,
            (high >> 16) as u16,
            high & 0xFFF,
            low >> 52,
            low & 0xFFFF_FFFF_FFFF
        );
        // Participants begin at different times.
        let clock = START + random.between(0.0, 1000.0);
        let motion = hands.motion(seed, who);
        let first = 100 * (who + 1);
        Person {
            random,
            user,
            motion,
            place: 0,
            moved: motion.first().map_or(0.0, |first| first.at),
            keys: hands.text(seed, who).iter().cycle(),
            clock,
            objects: first as u32,
            view: (0, 0),
            actions: Vec::new(),
        }
    }

    fn work(mut self, end: f64) -> Vec<Action> {
        while self.clock < end {
            match self.random.below(100) {
                0..50 => self.point(),
                50..67 => self.drag(MOVE, MOVED),
                67..77 => self.drag(RESIZE, RESIZED),
                77..89 => self.write(),
                _ => self.scroll(),
            }
            self.clock += self.random.between(200.0, 1500.0);
        }
        self.actions
    }

    fn point(&mut self) {
        let until = self.clock + self.random.between(2000.0, 8000.0);
        while self.clock < until {
            self.move_pointer();
        }
    }

    /// Sends the pointer if it has moved, on the channel whose contract applies while people talk,
    /// or while they do not.
    fn move_pointer(&mut self) -> Option<PointerSample> {
        match is_talk(self.clock) {
            true => self.look(LOOK_VOICE, POINTER_VOICE),
            false => self.look(LOOK, POINTER),
        }
    }

    fn look(&mut self, interval: f64, channel: usize) -> Option<PointerSample> {
        self.clock += interval;
        let before = self.here();
        self.moved += interval;
        while self.motion.get(self.place + 1).is_some_and(|next| next.at <= self.moved) {
            self.place += 1;
        }
        if self.place + 1 >= self.motion.len() {
            (self.place, self.moved) = (0, self.motion.first().map_or(0.0, |first| first.at));
        }
        let here = self.here();
        let is_new = (here.x, here.y) != (before.x, before.y);
        is_new.then(|| {
            self.send(channel, 0, "pointer", &format!(r#""x":{},"y":{}"#, here.x, here.y));
            here
        })
    }

    fn here(&self) -> PointerSample {
        self.motion[self.place]
    }

    fn drag(&mut self, during: usize, after: usize) {
        let object = self.object();
        let until = self.clock + self.random.between(1000.0, 3000.0);
        let mut last = None;
        let mut next = self.clock;
        while self.clock < until {
            let Some(here) = self.move_pointer() else { continue };
            last = Some(here);
            if self.clock >= next {
                let what = if during == MOVE { "move" } else { "resize" };
                self.send_at(during, object, what, here);
                next = self.clock + LOOK - 0.5;
            }
        }
        if let Some(here) = last {
            self.clock += 20.0;
            let what = if after == MOVED { "moved" } else { "resized" };
            self.send_at(after, object, what, here);
        }
        if self.random.chance(0.15) {
            self.clock += 300.0;
            self.send(DELETE, 0, "delete", &format!(r#""objectId":{object}"#));
        }
    }

    fn send_at(&mut self, channel: usize, object: u32, what: &str, here: PointerSample) {
        let place = format!(r#""objectId":{object},"x":{},"y":{}"#, here.x - 40.0, here.y - 24.0);
        self.send(channel, object, what, &place);
    }

    /// An object to work on, often a new one.
    fn object(&mut self) -> u32 {
        if self.random.chance(0.6) {
            self.objects += 1;
            let object = self.objects;
            let shape = self.random.pick(&["rect", "oval", "line", "text"]);
            let here = self.here();
            let what = format!(
                r#""objectId":{object},"shape":"{shape}","color":"blue","x":{},"y":{}"#,
                here.x, here.y
            );
            self.send(ADD, 0, "add", &what);
        }
        self.objects
    }

    fn write(&mut self) {
        let object = self.object();
        let until = self.clock + self.random.between(2000.0, 6000.0);
        let mut look = self.clock;
        let (mut text, mut is_new) = (String::new(), false);
        while self.clock < until && text.len() < LONGEST_TEXT {
            self.clock += self.random.skewed(140.0, 0.45);
            match self.keys.next() {
                Some(Key::Character(character)) => text.push(*character),
                Some(Key::Delete) => drop(text.pop()),
                None => return,
            }
            is_new = true;
            if self.clock >= look {
                self.send_text(EDIT, object, "edit", &text);
                is_new = false;
                look = self.clock + SLOW_LOOK;
            }
        }
        if is_new {
            self.clock = self.clock.max(look);
            self.send_text(EDIT, object, "edit", &text);
        }
        self.clock += 400.0;
        self.send_text(EDITED, object, "edited", &text);
    }

    fn send_text(&mut self, channel: usize, object: u32, what: &str, text: &str) {
        let text = serde_json::Value::from(text);
        self.send(channel, object, what, &format!(r#""objectId":{object},"text":{text}"#));
    }

    fn scroll(&mut self) {
        let until = self.clock + self.random.between(1000.0, 3000.0);
        while self.clock < until {
            self.clock += SLOW_LOOK;
            self.view.0 += self.random.between(-90.0, 90.0) as i32;
            self.view.1 += self.random.between(-200.0, 200.0) as i32;
            let (x, y) = self.view;
            self.send(VIEWPORT, 0, "viewport", &format!(r#""x":{x},"y":{y},"zoom":1"#));
        }
    }

    fn send(&mut self, channel: usize, key: u32, what: &str, rest: &str) {
        let Person { user, clock, .. } = self;
        let ts = EPOCH_MS + *clock as u64;
        let json = format!(
            r#"{{"type":"{what}","userId":"{user}","sessionId":{SESSION_ID},"ts":{ts},{rest}}}"#
        );
        let at = Duration::from_micros((*clock * 1e3) as u64);
        self.actions.push(Action { at, channel, key, bytes: json.into_bytes() });
    }
}
