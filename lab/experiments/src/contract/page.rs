//! A participant that is a page in a browser.

use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

use groupwire_session::{Kind, Overflow, Qos};

use super::notes::{Arrival, Notes, changes};
use super::play::REST;
use super::script::Script;
use crate::Result;
use crate::browsers::Page;
use crate::browsers::protocol::{
    Act, Acted, Attend, Command, Opened, PageAction, PageChange, PageQos, Reply, Stage, StageError,
};

/// The wait for a page's answer, beyond the duration of its command.
const PATIENCE: Duration = Duration::from_secs(10);

/// A participant that is a page.
pub(super) struct Performer<'a> {
    pub(super) page: &'a mut Page,
    pub(super) script: &'a Arc<Script>,
    pub(super) who: usize,
}

impl Performer<'_> {
    /// Joins the room at `http://host:port`.
    pub(super) fn attend(
        &mut self,
        server: String,
        transport: &'static str,
        patience: Duration,
    ) -> Result<()> {
        let opened = |wire| {
            let mut channels = self.script.channels.iter();
            let channel = channels.find(|channel| channel.wire == wire);
            channel.map(|channel| {
                let (qos, binary) = (page_qos(&channel.qos), !channel.is_text);
                Opened { name: wire, qos, binary }
            })
        };
        let channels = wires(self.script).into_iter().filter_map(opened).collect();
        let room = "contract".to_owned();
        let attend = Attend { transport, room, server, channels };
        self.page.start(Command::Attend(attend))?;
        match self.page.finish(patience)? {
            Reply::Attend => Ok(()),
            _ => Err(StageError::Confused.into()),
        }
    }

    /// Performs the script. Returns what came, and when each message was sent.
    pub(super) fn act(&mut self, begin: Instant) -> (Notes, Vec<Duration>) {
        let places = places(self.script);
        let mut notes = Notes::new(self.script, self.who, Vec::new());
        let acted = self.acted(begin, &places);
        let acted = acted.unwrap_or_else(|error| {
            notes.fail(begin.elapsed(), &error.to_string());
            Acted::default()
        });
        for (at, text) in &acted.arrivals {
            match self.find(text) {
                Some(message) => notes.arrivals.push(Arrival { at: from_ms(*at), message }),
                None => notes.object(from_ms(*at), "what came was never sent"),
            }
        }
        for (told, place) in notes.told.iter_mut().zip(&places) {
            *told = acted.told.get(*place) == Some(&true);
        }
        if let Some(failure) = acted.failure {
            notes.fail(begin.elapsed(), &failure);
        }
        (notes, acted.sent.into_iter().map(from_ms).collect())
    }

    /// Leaves the room.
    pub(super) fn leave(&mut self) -> Result<()> {
        self.page.start(Command::Leave)?;
        self.page.finish(PATIENCE)?;
        Ok(())
    }

    /// The message that came as this text: pages report bytes as characters below 256.
    fn find(&self, text: &str) -> Option<(usize, usize)> {
        let bytes = || text.chars().map(|one| u8::try_from(one).ok()).collect::<Option<Vec<_>>>();
        self.script.find(text.as_bytes()).or_else(|| self.script.find(&bytes()?))
    }

    fn acted(&mut self, begin: Instant, places: &[usize]) -> Result<Acted> {
        let script = self.script;
        let action = |action: &super::script::Action| PageAction {
            at: ms(action.at),
            channel: places[action.channel],
            key: script.key(action).map(|[key]| key.to_string()),
            text: match script.channels[action.channel].is_text {
                true => String::from_utf8_lossy(&action.bytes).into_owned(),
                false => action.bytes.iter().map(|byte| char::from(*byte)).collect(),
            },
        };
        let change = |(at, place): (Duration, usize)| PageChange {
            at: ms(at),
            channel: places[place],
            qos: page_qos(&script.channels[place].qos),
        };
        let length = script.end + REST;
        let start = SystemTime::now() - begin.elapsed();
        let start = start.duration_since(SystemTime::UNIX_EPOCH)?;
        self.page.start(Command::Act(Act {
            start: ms(start),
            ms: ms(length),
            actions: script.actions[self.who].iter().map(action).collect(),
            changes: changes(script, self.who).into_iter().map(change).collect(),
        }))?;
        match self.page.finish(length + PATIENCE)? {
            Reply::Act(acted) => Ok(acted),
            _ => Err(StageError::Confused.into()),
        }
    }
}

/// The names of a script's channels, each once.
fn wires(script: &Script) -> Vec<&'static str> {
    let mut wires: Vec<&str> = Vec::new();
    for channel in &script.channels {
        if !wires.contains(&channel.wire) {
            wires.push(channel.wire);
        }
    }
    wires
}

/// For each channel of a script, the index of its name in [`wires`].
fn places(script: &Script) -> Vec<usize> {
    let wires = wires(script);
    let place = |wire| wires.iter().position(|one| *one == wire).unwrap_or_default();
    script.channels.iter().map(|channel| place(channel.wire)).collect()
}

fn page_qos(qos: &Qos) -> PageQos {
    let is_awareness = qos.kind == Kind::Awareness;
    let rate = |hertz: f64| (is_awareness && hertz > 0.0).then_some(hertz);
    PageQos {
        kind: if is_awareness { "awareness" } else { "transaction" },
        overflow: (is_awareness && qos.overflow == Overflow::Aggregate).then_some("aggregate"),
        loss: is_awareness.then(|| f64::from(qos.loss) / 1000.0),
        deadline: qos.deadline.map(ms),
        min_rate: rate(qos.rate_min.hertz()),
        max_rate: rate(qos.rate_max.hertz()),
    }
}

fn ms(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}

fn from_ms(ms: f64) -> Duration {
    Duration::from_secs_f64((ms / 1e3).max(0.0))
}
