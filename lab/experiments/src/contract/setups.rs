//! The setups: who is in the room, over which paths, and what they do.

use std::fmt;
use std::rc::Rc;
use std::time::Duration;

use clap::ValueEnum;

use super::Options;
use super::channels::{pointers, table1};
use super::hand::Hands;
use super::judge::{Verdict, judge};
use super::path::Path;
use super::plain::play_plain;
use super::play::{Played, Setting, play};
use super::row::{Ablation, Conditions, Setup};
use super::script::Script;
use crate::Row;
use crate::options::{is_wanted, or_usual};
use crate::sim::{Capacity, Lane, LinkConfig, Loss, Queue};

const MS: Duration = Duration::from_millis(1);
/// 40 ms, as rooms have it unless told otherwise.
const TICK: Duration = Duration::from_millis(40);
/// What the experiment is judged in: both hops lose so.
const LOSSES: [&str; 2] = ["rand20", "pb10@4"];
/// Each hop, each way: 50 ms from application to application and back.
const HOP: Duration = Duration::from_micros(12_500);
/// What a modem carries, in kbit/s each way.
const MODEM: f64 = 28.8;
/// By then all have joined, and nobody has begun.
const JOINED: Duration = Duration::from_secs(2);
/// People in rooms, and how many of them move their pointers at most.
const SIZES: [usize; 4] = [2, 10, 100, 1000];
const SENDERS: usize = 10;

/// One run, or some that belong together.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Job {
    Table1(Loss),
    Straggler,
    Modem,
    Lossy,
    Room(usize),
}

/// The jobs of the setups that are wanted.
pub(super) fn jobs(options: &Options) -> Vec<Job> {
    let losses = LOSSES.map(|name| name.parse().expect("it names a loss"));
    let setups = Setup::value_variants().iter().filter(|setup| is_wanted(&options.setups, *setup));
    let jobs = setups.flat_map(|setup| match setup {
        Setup::Table1 => or_usual(&options.losses, &losses).into_iter().map(Job::Table1).collect(),
        Setup::Straggler => vec![Job::Straggler],
        Setup::Modem => vec![Job::Modem],
        Setup::Lossy => vec![Job::Lossy],
        Setup::Rooms => SIZES.map(Job::Room).to_vec(),
    });
    jobs.collect()
}

impl fmt::Display for Job {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Job::Table1(loss) => write!(out, "{} {loss}", Setup::Table1),
            Job::Straggler => write!(out, "{}", Setup::Straggler),
            Job::Modem => write!(out, "{}", Setup::Modem),
            Job::Lossy => write!(out, "{}", Setup::Lossy),
            Job::Room(size) => write!(out, "{} {size}", Setup::Rooms),
        }
    }
}

impl Job {
    pub(super) fn rows(&self, hands: &Hands, options: &Options) -> Vec<Row> {
        match self {
            Job::Table1(loss) => table1_rows(loss, hands, options),
            Job::Straggler => straggler_rows(hands, options),
            Job::Modem => modem_rows(hands, options),
            Job::Lossy => lossy_rows(hands, options),
            Job::Room(size) => room_rows(*size, hands, options),
        }
    }
}

fn table1_rows(loss: &Loss, hands: &Hands, options: &Options) -> Vec<Row> {
    let length = options.length(600, 40);
    let script = Rc::new(Script::table1(table1(), hands, options.common.seed, 4, length));
    let paths = vec![path(Lane::WebTransport, HOP, loss.clone()); 4];
    let plain = play_plain(&script, &paths, Duration::ZERO, options.common.seed);
    let aggregated = play_plain(&script, &paths, TICK, options.common.seed);
    let ablations = or_usual(&options.ablations, Ablation::value_variants());
    let rows = ablations.into_iter().flat_map(|ablation| {
        let setting =
            Setting { ablation, is_traced: true, ..setting(&script, &paths, TICK, options) };
        let played = play(&setting);
        let mut rows = rows(Setup::Table1, &setting, &loss.to_string(), &played, options);
        for row in &mut rows {
            row.set("plain_wire_bytes_per_message", per_message(&script, &plain));
            row.set("aggregated_wire_bytes_per_message", per_message(&script, &aggregated));
            row.set("repeat_bytes", played.repeat_bytes());
            row.set("repeats", played.repeats.len() as f64 / played.new.max(1) as f64);
        }
        rows
    });
    rows.collect()
}

/// The other three's bytes, with one on a bad path and with none.
fn straggler_rows(hands: &Hands, options: &Options) -> Vec<Row> {
    let length = options.length(300, 30);
    let script = Rc::new(Script::table1(table1(), hands, options.common.seed, 4, length));
    let good = vec![path(Lane::WebTransport, HOP, Loss::NONE); 4];
    let mut mixed = good.clone();
    let bad = Loss::Random { percent: 20.0 };
    mixed[3] = path(Lane::WebTransport, 250 * MS, bad.clone());
    let without = play(&setting(&script, &good, TICK, options));
    let with = setting(&script, &mixed, TICK, options);
    let played = play(&with);
    let bytes = |played: &Played| played.wire_bytes[..3].iter().sum::<u64>() as f64;
    let raised = bytes(&played) / bytes(&without) - 1.0;
    let loss = format!("one {bad}");
    // What the three say to each other and hear of each other is judged; the fourth is far away.
    let conditions = conditions(Setup::Straggler, &with, &loss, options);
    let verdicts = judge(&script, &played.arrivals, |receiver, sender| receiver < 3 && sender < 3);
    let each = script.channels.iter().zip(&verdicts);
    let row = |(channel, verdict)| {
        let bytes = per_message(&script, &played);
        let row = conditions.row(channel, verdict, bytes, &played);
        row.with("raised", raised).with("class", "the other three")
    };
    each.map(row).collect()
}

fn modem_rows(hands: &Hands, options: &Options) -> Vec<Row> {
    let length = options.length(300, 30);
    let channels = pointers(250, 60);
    let script = Rc::new(Script::pointers(channels, hands, options.common.seed, (4, 4), length));
    let link = LinkConfig {
        delay: HOP,
        loss: later(Loss::Random { percent: 20.0 }),
        capacity: Capacity::kbit(MODEM),
        queue: Queue::Time(300 * MS),
        ..LinkConfig::default()
    };
    let paths = vec![Path::both(Lane::WebTransport, link); 4];
    let setting = setting(&script, &paths, TICK, options);
    rows(Setup::Modem, &setting, "rand20", &play(&setting), options)
}

fn lossy_rows(hands: &Hands, options: &Options) -> Vec<Row> {
    let length = options.length(200, 15);
    let channels = pointers(100, 10);
    let script = Rc::new(Script::pointers(channels, hands, options.common.seed, (10, 10), length));
    let lanes = [Lane::WebTransport, Lane::WebSocket];
    let rows = lanes.into_iter().flat_map(|lane| {
        let paths = vec![path(lane, 20 * MS, Loss::Random { percent: 3.0 }); 10];
        let setting = setting(&script, &paths, Duration::ZERO, options);
        rows(Setup::Lossy, &setting, "rand3", &play(&setting), options)
    });
    rows.collect()
}

/// Every third has a WebSocket; losses of 0, 3 and 10 % take turns.
fn room_rows(size: usize, hands: &Hands, options: &Options) -> Vec<Row> {
    let length = options.length(10, if size > 100 { 2 } else { 5 });
    let channels = pointers(250, 50);
    let senders = (size, SENDERS.min(size));
    let script = Rc::new(Script::pointers(channels, hands, options.common.seed, senders, length));
    let class = |who: usize| {
        let lane = if who % 3 == 2 { Lane::WebSocket } else { Lane::WebTransport };
        (lane, [0.0, 3.0, 10.0][who / 3 % 3])
    };
    let paths: Vec<Path> = (0..size)
        .map(|who| {
            let (lane, percent) = class(who);
            path(lane, 20 * MS, Loss::Random { percent })
        })
        .collect();
    let setting = setting(&script, &paths, TICK, options);
    let played = play(&setting);
    let mut rows = Vec::new();
    for lane in [Lane::WebTransport, Lane::WebSocket] {
        for percent in [0.0, 3.0, 10.0] {
            let is_asked = |who: usize| class(who) == (lane, percent);
            let verdict = judge(&script, &played.arrivals, |who, _| is_asked(who)).remove(0);
            if verdict.addressed == 0 {
                continue;
            }
            let loss = Loss::Random { percent }.to_string();
            let conditions = Conditions {
                transport: name(lane),
                ..conditions(Setup::Rooms, &setting, &loss, options)
            };
            let theirs = played.wire_bytes.iter().enumerate().filter(|(who, _)| is_asked(*who));
            let bytes = theirs.map(|(_, bytes)| *bytes).sum::<u64>() as f64;
            let bytes = bytes / verdict.addressed as f64;
            let row = conditions.row(&script.channels[0], &verdict, bytes, &played);
            rows.push(row.with("class", format!("{} {loss}", name(lane))));
        }
    }
    rows
}

/// A row for each channel, judged by all.
fn rows(
    setup: Setup,
    setting: &Setting<'_>,
    loss: &str,
    played: &Played,
    options: &Options,
) -> Vec<Row> {
    let conditions = conditions(setup, setting, loss, options);
    let verdicts: Vec<Verdict> = judge(setting.script, &played.arrivals, |_, _| true);
    let bytes = per_message(setting.script, played);
    let told = |place: usize| {
        let told = played.told.iter().filter(|of| of.get(place) == Some(&true)).count();
        told as f64 / setting.paths.len() as f64
    };
    let each = setting.script.channels.iter().zip(&verdicts).enumerate();
    let row = |(place, (channel, verdict))| {
        let row = conditions.row(channel, verdict, bytes, played);
        row.with("told", told(place))
    };
    each.map(row).collect()
}

/// The whole system as users have it, untraced.
fn setting<'a>(
    script: &'a Rc<Script>,
    paths: &'a [Path],
    tick: Duration,
    options: &Options,
) -> Setting<'a> {
    Setting {
        script,
        paths,
        tick: options.tick(tick),
        ablation: Ablation::None,
        ends: options.ends(),
        is_traced: false,
        seed: options.common.seed,
    }
}

fn conditions(setup: Setup, setting: &Setting<'_>, loss: &str, options: &Options) -> Conditions {
    let first = &setting.paths[0];
    let is_mixed = setting.paths.iter().any(|path| path.lane != first.lane);
    Conditions {
        setup,
        loss: loss.to_owned(),
        rtt_ms: 2e3 * first.round_trip().as_secs_f64(),
        participants: setting.paths.len(),
        transport: if is_mixed { "mixed" } else { name(first.lane) },
        tick_ms: setting.tick.as_secs_f64() * 1e3,
        browser_acks: options.browser_acks,
        ablation: setting.ablation,
        common: options.common,
    }
}

fn per_message(script: &Script, played: &Played) -> f64 {
    let receivers = played.wire_bytes.len() - 1;
    played.wire_bytes.iter().sum::<u64>() as f64 / (script.messages() * receivers).max(1) as f64
}

fn path(lane: Lane, delay: Duration, loss: Loss) -> Path {
    Path::both(lane, LinkConfig { delay, loss: later(loss), ..LinkConfig::default() })
}

/// Nothing is lost while people join: a handshake, which is not simulated, would have told the round trip.
fn later(loss: Loss) -> Loss {
    Loss::Step { at: JOINED, before: Box::new(Loss::NONE), after: Box::new(loss) }
}

fn name(lane: Lane) -> &'static str {
    match lane {
        Lane::WebSocket => "websocket",
        Lane::WebTransport => "webtransport",
    }
}
