//! Faults: how often requests are lost, late and stale, and what happens to nodes and
//! logs.

use std::time::Duration;

use oorandom::Rand64;

use super::service::Service;
use super::world::{Event, World};

/// How often something goes wrong, of 1000 times.
#[derive(Clone, Default)]
pub(crate) struct Weather {
    pub(crate) lost: u64,
    pub(crate) late: u64,
    pub(crate) stale: u64,
    pub(crate) falsely_refused: u64,
    /// Applying a record takes up to this many milliseconds.
    pub(crate) slow_apply: u64,
    /// Hints that arrive.
    pub(crate) hints: u64,
    /// How often a state is not saved at once.
    pub(crate) unsaved: u64,
    /// Payloads that become blobs.
    pub(crate) large: u64,
    /// Milliseconds between faults.
    pause: u64,
    /// The engine syncs lazily.
    loses_tails: bool,
    /// The engine's disks damage entries.
    damages: bool,
}

impl Weather {
    pub(crate) fn new(random: &mut Rand64) -> Self {
        let mut upto = |most: u64| random.rand_range(0..most) * random.rand_range(0..2);
        let (lost, late, stale) = (upto(100), upto(150), upto(600));
        let (falsely_refused, slow_apply, unsaved) = (upto(100), 1 + upto(60), upto(900));
        let large = u64::from(random.rand_range(0..8) == 0) * 5;
        let harm = random.rand_range(0..12);
        Self {
            lost,
            late,
            stale,
            falsely_refused,
            slow_apply,
            hints: 700,
            large,
            // A power cut of engine and node together may leave nobody who knows.
            unsaved: if harm < 6 { 0 } else { unsaved },
            pause: random.rand_range(1000..6000),
            loses_tails: harm < 4,
            damages: (4..6).contains(&harm),
        }
    }

    pub(crate) fn calm() -> Self {
        Self { slow_apply: 1, hints: 1000, ..Self::default() }
    }

    /// True if logs are harmed. Then all disks stay, so that a node knows what was confirmed.
    fn harms(&self) -> bool {
        self.loses_tails || self.damages
    }

    pub(crate) fn is_calm(&self) -> bool {
        self.pause == 0
    }
}

impl<S: Service> World<S> {
    /// One more fault, and the next after a while.
    pub(crate) fn fault(&mut self) {
        let pause = self.weather.pause;
        if self.weather.is_calm() {
            return;
        }
        self.after(pause / 2..pause * 2, Event::Fault);
        let node = self.random.rand_range(0..self.nodes.len() as u64) as usize;
        match self.random.rand_range(0..100) {
            0..25 => self.kill(node, 100..8000),
            25..50 => self.pause(node),
            50..70 => {
                let both = self.random.rand_range(1..4);
                self.nodes[node].cut = (both & 1 == 1, both & 2 == 2);
                self.log(|| format!("cut {node} {both}"));
                self.after(500..12_000, Event::Heal { node });
            }
            70..78 => self.drain(node),
            78..82 => self.nodes[node].skew = self.random.rand_range(0..20_000_000),
            82..86 if self.nodes[node].paused_until <= self.now => {
                let shard = self.random.rand_range(0..u64::from(self.shards)) as u16;
                S::base(self, node, shard);
                self.turn(node);
            }
            86..89 if self.nodes.len() < 6 && !self.weather.harms() => {
                let name = self.nodes[node].name.clone();
                self.log(|| format!("a double of {name}"));
                self.add_node(name, true);
            }
            89..91 if self.nodes.len() > 1 && !self.weather.harms() => {
                self.kill(node, 100..2000);
                self.nodes[node].disk = S::Disk::default();
            }
            91.. => self.harm(node),
            _ => {}
        }
    }

    pub(crate) fn kill(&mut self, node: usize, down: std::ops::Range<u64>) {
        self.log(|| format!("kill {node}"));
        self.end_process(node);
        self.nodes[node].paused_until = Duration::ZERO;
        self.after(down, Event::Start { node });
    }

    pub(crate) fn pause(&mut self, node: usize) {
        let pause = Duration::from_millis(self.random.rand_range(500..12_000));
        self.log(|| format!("pause {node} for {pause:?}"));
        self.pause_for(node, pause);
    }

    pub(crate) fn pause_for(&mut self, node: usize, pause: Duration) {
        let now = self.now;
        let node = &mut self.nodes[node];
        if node.paused_until > now {
            return;
        }
        node.paused_until = now + pause;
        if let Some(process) = &mut node.process
            && pause >= Duration::from_secs(3)
        {
            process.resumes = now + pause;
        }
    }

    pub(crate) fn drain(&mut self, node: usize) {
        self.log(|| format!("drain {node}"));
        let now = self.nodes[node].now(self.now);
        if self.nodes[node].paused_until > self.now {
            return;
        }
        if let Some(process) = &mut self.nodes[node].process {
            process.cluster.drain(now);
            self.turn(node);
            // The process ends some time later, whether it is drained or not.
            let event = Event::Stop { node };
            self.after(1000..9000, event);
        }
    }

    fn harm(&mut self, node: usize) {
        let now = self.now;
        let shard = self.random.rand_range(0..u64::from(self.shards)) as usize;
        let age = Duration::from_millis(self.random.rand_range(0..2000));
        if self.weather.loses_tails {
            self.log(|| format!("lose tail of {shard}"));
            self.engine.logs[shard].lose_tail(now.saturating_sub(age), now);
            // Where the engine loses its power, so does a node, often.
            if self.chance(500) {
                self.kill(node, 100..8000);
            }
        } else if self.weather.damages {
            let entries = self.engine.logs[shard].entries.len() as u64;
            let index = self.random.rand_range(0..entries + 1) as usize;
            self.log(|| format!("damage {shard} {index}"));
            self.engine.logs[shard].damage(index, now);
        }
    }

    /// All faults end, all nodes run, and doubles are gone.
    pub(crate) fn calm(&mut self) {
        self.log(|| "calm".into());
        self.weather = Weather::calm();
        for node in 0..self.nodes.len() {
            self.nodes[node].cut = (false, false);
            if self.nodes[node].is_double {
                self.end_process(node);
                continue;
            }
            if self.nodes[node].process.as_ref().is_none_or(|process| process.refused) {
                self.end_process(node);
                self.after(0..5000, Event::Start { node });
            }
        }
    }
}
