//! An exchange of messages in simulated time, with a choice for each message, compared with fixed
//! choices.

use std::time::Duration;

use groupwire_codecs::{ALL, Auto, Choice, Costs, Link, Packer};

use super::network::{FIXED, Network};
use super::payload::Kind;
use super::random::Random;

/// Different messages of each content; they are really packed, and then sent repeatedly.
const DISTINCT: usize = 100;

/// Messages of one kind and size with their packed sizes by every choice.
pub(crate) struct Content {
    pub(crate) size: usize,
    choices: Vec<Choice>,
    /// Packed sizes, by message and then by choice.
    packed: Vec<Vec<usize>>,
}

impl Content {
    pub(crate) fn new(kind: Kind, size: usize) -> Self {
        let mut random = Random::new(7 + size as u64);
        let mut packer = Packer::new(ALL);
        let messages: Vec<_> = (0..DISTINCT).map(|_| kind.message(size, &mut random)).collect();
        let mut choices = Auto::candidates(|codec| packer.has(codec));
        let mut pack = |choice, message: &Vec<u8>| {
            let mut packed = Vec::new();
            packer.pack(choice, message, &mut packed).map(|_| packed.len())
        };
        choices.retain(|&choice| pack(choice, &messages[0]).is_ok());
        let packed = messages
            .iter()
            .map(|message| {
                choices.iter().filter_map(|&choice| pack(choice, message).ok()).collect()
            })
            .collect();
        Content { size, choices, packed }
    }

    pub(crate) fn choices(&self) -> &[Choice] {
        &self.choices
    }

    pub(crate) fn packed(&self, nth: usize, choice: Choice) -> usize {
        let at = self.choices.iter().position(|&known| known == choice).expect("it was packed");
        self.packed[nth % DISTINCT][at]
    }
}

/// Sends messages and adds up their times, ns.
pub(crate) struct Session {
    pub(crate) network: Network,
    /// The costs that `auto` was given.
    pub(crate) costs: Costs,
    /// The real times as factors of `costs`. `auto` learns them only if `is_timed`.
    pub(crate) truth: fn(Choice) -> f64,
    /// Whether `auto` is told measured times.
    pub(crate) is_timed: bool,
    pub(crate) auto: Auto,
    pub(crate) link: Link,
    random: Random,
    sent: usize,
}

impl Session {
    pub(crate) fn new(network: Network, choices: &[Choice]) -> Self {
        let costs = Costs::reference();
        let auto = Auto::new(choices, &costs);
        Session {
            network,
            costs,
            truth: |_| 1.0,
            is_timed: false,
            auto,
            link: Link::new(),
            random: Random::new(3),
            sent: 0,
        }
    }

    /// Sends one message. Returns its time in one direction, and the time of its trial.
    fn send(&mut self, content: &Content) -> (f64, f64) {
        let size = content.size;
        let pick = self.auto.choose(size, &self.link);
        let bytes = content.packed(self.sent, pick.choice);
        self.auto.learn(pick.choice, size, bytes);
        let time = self.time(content, pick.choice);
        let mut trial = 0.0;
        if let Some(also) = pick.also {
            trial = f64::from(self.costs.of(also).compress.at(size)) * (self.truth)(also);
            self.auto.learn(also, size, content.packed(self.sent, also));
            if self.is_timed {
                self.auto.took(also, size, Duration::from_nanos(60 + trial as u64));
            }
        }
        self.link.heard(2 * bytes, self.network.exchange(bytes, &mut self.random));
        if self.is_timed && (self.sent < 64 || self.sent.is_multiple_of(7)) {
            self.tell_times(pick.choice, size);
        }
        self.sent += 1;
        (time, trial)
    }

    /// Tells `auto` measured times, which include the clock's own time and sometimes an
    /// interruption.
    fn tell_times(&mut self, choice: Choice, size: usize) {
        let (cost, truth) = (self.costs.of(choice), (self.truth)(choice));
        for (line, is_packing) in [(cost.compress, true), (cost.decompress, false)] {
            let late = if self.random.below(50) == 0 { 20_000.0 } else { 0.0 };
            let nanos = 60.0 + f64::from(line.at(size)) * truth + late;
            let time = Duration::from_nanos(nanos as u64);
            match is_packing {
                true => self.auto.took(choice, size, time),
                false => self.auto.unpacked(Choice::codec(choice.codec), size, time),
            }
        }
    }

    /// The expected time of the next message by `choice`.
    fn time(&self, content: &Content, choice: Choice) -> f64 {
        let bytes = content.packed(self.sent, choice) as f64;
        FIXED
            + self.network.jitter
            + bytes * self.network.nanos_per_byte()
            + f64::from(self.costs.of(choice).at(content.size)) * (self.truth)(choice)
    }

    /// Sends messages of randomly chosen contents, and computes the times of all fixed choices for
    /// them.
    pub(crate) fn compare(&mut self, contents: &[&Content], messages: usize) -> Times {
        let choices = contents[0].choices();
        let mut fixed = vec![0.0; choices.len()];
        let mut times = Times::default();
        let mut random = Random::new(11);
        for _ in 0..messages {
            let content = contents[random.below(contents.len() as u64) as usize];
            for (&choice, sum) in choices.iter().zip(&mut fixed) {
                *sum += self.time(content, choice);
            }
            let (time, trial) = self.send(content);
            times.chosen += time + trial;
            times.trials += trial;
        }
        times.best = fixed.into_iter().fold(f64::MAX, f64::min);
        times
    }
}

/// Sums of times, ns.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Times {
    /// The time with a choice for each message, trials included.
    pub(crate) chosen: f64,
    /// Of the trials alone.
    pub(crate) trials: f64,
    /// The time with the best fixed choice.
    pub(crate) best: f64,
}

impl Times {
    /// The time lost against the best fixed choice, as a share of its time.
    pub(crate) fn loss(&self) -> f64 {
        self.chosen / self.best - 1.0
    }
}
