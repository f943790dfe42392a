//! The setups, and the rows of each.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use clap::ValueEnum;

use super::Options;
use super::canonical::{self, Canonical};
use super::cellular::{self, Recording};
use super::channels::{pointers, table1};
use super::hand::Hands;
use super::judge::{Verdict, judge};
use super::narrow;
use super::path::{Path, transport};
use super::plain::play_plain;
use super::play::{Played, Setting, play};
use super::row::{Ablation, Conditions, Setup};
use super::scene::{HOP, MOVER, Scene, TICK, path};
use super::script::Script;
use crate::options::{is_wanted, or_usual};
use crate::sim::{Lane, Loss};
use crate::statistics::percentile;
use crate::{Row, Update};

const MS: Duration = Duration::from_millis(1);
/// The losses of both hops by which the experiment is judged.
const LOSSES: [&str; 2] = ["rand20", "pb10@4"];
/// People in rooms, and how many of them move their pointers at most.
const SIZES: [usize; 4] = [2, 10, 100, 1000];
const SENDERS: usize = 10;

/// A run, or several that belong together.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Job {
    Table1(Loss),
    Straggler,
    Modem,
    Gprs,
    Lossy,
    Handover,
    Cellular(Recording),
    Canonical(Canonical),
    Room(usize),
}

/// The jobs of the wanted setups. Reports setups whose recordings are missing.
pub(super) fn jobs(options: &Options, emit: &mut dyn FnMut(Update)) -> Vec<Job> {
    let setups = Setup::value_variants().iter().filter(|setup| is_wanted(&options.setups, *setup));
    let jobs = setups.flat_map(|setup| match setup {
        Setup::Table1 => losses(options).into_iter().map(Job::Table1).collect(),
        Setup::Straggler => vec![Job::Straggler],
        Setup::Modem => vec![Job::Modem],
        Setup::Gprs => vec![Job::Gprs],
        Setup::Lossy => vec![Job::Lossy],
        Setup::Handover => vec![Job::Handover],
        Setup::Cellular => {
            cellular::recordings(options, emit).into_iter().map(Job::Cellular).collect()
        }
        Setup::Canonical => canonical::all(options, emit).into_iter().map(Job::Canonical).collect(),
        Setup::Rooms => SIZES.map(Job::Room).to_vec(),
    });
    jobs.collect()
}

/// The losses of the setup table1 that are wanted.
pub(super) fn losses(options: &Options) -> Vec<Loss> {
    or_usual(&options.losses, &LOSSES.map(|name| name.parse().expect("it names a loss")))
}

impl fmt::Display for Job {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Job::Table1(loss) => write!(out, "{} {loss}", Setup::Table1),
            Job::Straggler => write!(out, "{}", Setup::Straggler),
            Job::Modem => write!(out, "{}", Setup::Modem),
            Job::Gprs => write!(out, "{}", Setup::Gprs),
            Job::Lossy => write!(out, "{}", Setup::Lossy),
            Job::Handover => write!(out, "{}", Setup::Handover),
            Job::Cellular(recording) => write!(out, "{} {recording}", Setup::Cellular),
            Job::Canonical(one) => write!(out, "{} {one}", Setup::Canonical),
            Job::Room(size) => write!(out, "{} {size}", Setup::Rooms),
        }
    }
}

impl Job {
    /// The scene of a job, if it can also be played over real sockets.
    pub(super) fn scene(&self, hands: &Hands, seed: u64, length: Duration) -> Option<Scene> {
        Some(match self {
            Job::Table1(loss) => Scene::table1(loss, hands, seed, length),
            Job::Modem => Scene::modem(hands, seed, length),
            Job::Lossy => Scene::lossy(Lane::WebTransport, hands, seed, length),
            Job::Handover => Scene::handover(hands, seed, length),
            Job::Cellular(recording) => Scene::cellular(recording, hands, seed, length),
            Job::Canonical(one) => one.scene(seed, length),
            Job::Straggler | Job::Gprs | Job::Room(_) => return None,
        })
    }

    pub(super) fn rows(&self, hands: &Hands, options: &Options) -> Vec<Row> {
        match self {
            Job::Table1(loss) => table1_rows(loss, hands, options),
            Job::Straggler => straggler_rows(hands, options),
            Job::Modem => modem_rows(hands, options),
            Job::Gprs => gprs_rows(hands, options),
            Job::Lossy => lossy_rows(hands, options),
            Job::Handover => handover_rows(hands, options),
            Job::Cellular(recording) => cellular_rows(recording, hands, options),
            Job::Canonical(one) => {
                scene_rows(&one.scene(options.common.seed, options.length(60, 6)), options)
            }
            Job::Room(size) => room_rows(*size, hands, options),
        }
    }
}

fn table1_rows(loss: &Loss, hands: &Hands, options: &Options) -> Vec<Row> {
    let seed = options.common.seed;
    let scene = Scene::table1(loss, hands, seed, options.length(600, 40));
    let Scene { script, paths, .. } = &scene;
    let plain = play_plain(script, paths, Duration::ZERO, seed);
    let aggregated = play_plain(script, paths, TICK, seed);
    let ablations = or_usual(&options.ablations, Ablation::value_variants());
    let rows = ablations.into_iter().flat_map(|ablation| {
        let setting = Setting { ablation, is_traced: true, ..of_scene(&scene, options) };
        let played = play(&setting);
        let outcome = Outcome::of(&scene, script, played.clone());
        let conditions = conditions(scene.setup, &setting, &scene.loss, options);
        let mut rows = outcome.rows(&conditions, &scene);
        for row in &mut rows {
            row.set("plain_wire_bytes_per_message", per_message(script, &plain));
            row.set("aggregated_wire_bytes_per_message", per_message(script, &aggregated));
            row.set("repeat_bytes", played.repeat_bytes());
            row.set("repeats", played.repeats.len() as f64 / played.new.max(1) as f64);
        }
        rows
    });
    rows.collect()
}

/// Compares the bytes of the other three participants, with one on a bad path and without.
fn straggler_rows(hands: &Hands, options: &Options) -> Vec<Row> {
    let length = options.length(300, 30);
    let script = Arc::new(Script::table1(table1(), hands, options.common.seed, 4, length));
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
    // Only messages between the three participants with good paths are judged.
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
    let scene = Scene::modem(hands, options.common.seed, options.length(300, 30));
    scene_rows(&scene, options)
}

fn gprs_rows(hands: &Hands, options: &Options) -> Vec<Row> {
    let scene = narrow::scene(hands, options.common.seed, options.length(300, 30));
    let script = &scene.script;
    let setting = of_scene(&scene, options);
    let played = play(&setting);
    let ages = narrow::ages(script, &played.arrivals);
    let outcome = Outcome::of(&scene, script, played.clone());
    let mut rows = outcome.rows(&conditions(scene.setup, &setting, &scene.loss, options), &scene);
    for (place, row) in rows.iter_mut().enumerate() {
        let wire = script.channels[place].wire;
        row.set("told_s", narrow::told_after(script, &played.told_at, wire));
        if wire == narrow::POINTERS {
            row.set("age_p99_ms", percentile(&ages, 99.0));
        }
    }
    rows
}

fn lossy_rows(hands: &Hands, options: &Options) -> Vec<Row> {
    let length = options.length(200, 15);
    let lanes = [Lane::WebTransport, Lane::WebSocket];
    let scene = |lane| Scene::lossy(lane, hands, options.common.seed, length);
    lanes.into_iter().flat_map(|lane| scene_rows(&scene(lane), options)).collect()
}

fn handover_rows(hands: &Hands, options: &Options) -> Vec<Row> {
    let scene = Scene::handover(hands, options.common.seed, options.length(300, 40));
    scene_rows(&scene, options)
}

fn cellular_rows(recording: &Recording, hands: &Hands, options: &Options) -> Vec<Row> {
    let length = options.length(120, 20);
    let scene = Scene::cellular(recording, hands, options.common.seed, length);
    scene_rows(&scene, options)
}

/// Every third has a WebSocket; losses of 0, 3 and 10 % take turns.
fn room_rows(size: usize, hands: &Hands, options: &Options) -> Vec<Row> {
    let length = options.length(10, if size > 100 { 2 } else { 5 });
    let channels = pointers(250, 50);
    let senders = (size, SENDERS.min(size));
    let script = Arc::new(Script::pointers(channels, hands, options.common.seed, senders, length));
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
                transport: transport(lane),
                ..conditions(Setup::Rooms, &setting, &loss, options)
            };
            let theirs = played.wire_bytes.iter().enumerate().filter(|(who, _)| is_asked(*who));
            let bytes = theirs.map(|(_, bytes)| *bytes).sum::<u64>() as f64;
            let bytes = bytes / verdict.addressed as f64;
            let row = conditions.row(&script.channels[0], &verdict, bytes, &played);
            rows.push(row.with("class", format!("{} {loss}", transport(lane))));
        }
    }
    rows
}

/// Plays a scene in simulated time.
fn scene_rows(scene: &Scene, options: &Options) -> Vec<Row> {
    let setting = of_scene(scene, options);
    let outcome = Outcome::of(scene, &scene.script, play(&setting));
    outcome.rows(&scene_conditions(scene, &setting, options), scene)
}

/// The result of a scene, with one seed or several.
#[derive(Debug, Clone)]
pub(super) struct Outcome {
    /// The verdict of each channel, for each class of senders and receivers.
    verdicts: Vec<(Option<String>, Vec<Verdict>)>,
    /// The bytes on the wire, per message and receiver.
    bytes: f64,
    /// For each channel: the share of participants with an event that its contract is not kept.
    told: Vec<f64>,
    /// What the first seed delivered and cost.
    played: Played,
    seeds: usize,
}

impl Outcome {
    /// Judges a scene. Where one participant moves or has another link, its messages are one class,
    /// and all others another. `script` has the real send times.
    pub(super) fn of(scene: &Scene, script: &Script, played: Played) -> Self {
        let classes = match scene.setup {
            Setup::Handover | Setup::Cellular => vec![Some(true), Some(false)],
            _ => vec![None],
        };
        let verdicts = classes.into_iter().map(|class: Option<bool>| {
            let is_of_mover = |receiver, sender| receiver == MOVER || sender == MOVER;
            let is_asked = |receiver, sender| {
                class.is_none_or(|wanted| wanted == is_of_mover(receiver, sender))
            };
            let name = class.map(|mover| if mover { "who moves" } else { "the others" }.to_owned());
            (name, judge(script, &played.arrivals, is_asked))
        });
        let told = |place: usize| {
            let told = played.told.iter().filter(|of| of.get(place) == Some(&true)).count();
            told as f64 / scene.paths.len() as f64
        };
        Outcome {
            verdicts: verdicts.collect(),
            bytes: per_message(script, &played),
            told: (0..script.channels.len()).map(told).collect(),
            played,
            seeds: 1,
        }
    }

    /// Adds the outcome of the scene with another seed to the means.
    pub(super) fn add(&mut self, other: Outcome) {
        let mean = |one: f64, another: f64| one + (another - one) / (self.seeds + 1) as f64;
        self.bytes = mean(self.bytes, other.bytes);
        for (told, other) in self.told.iter_mut().zip(other.told) {
            *told = mean(*told, other);
        }
        for ((_, verdicts), (_, others)) in self.verdicts.iter_mut().zip(other.verdicts) {
            verdicts.iter_mut().zip(others).for_each(|(verdict, other)| verdict.add(other));
        }
        self.played.wrong = self.played.wrong.take().or(other.played.wrong);
        self.played.failure = self.played.failure.take().or(other.played.failure);
        self.seeds += 1;
    }

    /// A row for each class and channel.
    pub(super) fn rows(&self, conditions: &Conditions, scene: &Scene) -> Vec<Row> {
        let rows = self.verdicts.iter().flat_map(|(class, verdicts)| {
            let each = scene.script.channels.iter().zip(verdicts).zip(&self.told);
            each.enumerate().map(move |(place, ((channel, verdict), told))| {
                let row = conditions.row(channel, verdict, self.bytes, &self.played);
                let row = row.with("size", scene.script.size(place));
                let row = row.with("class", class.as_ref()).with("link", scene.link.as_ref());
                row.with("told", *told).with("seeds", self.seeds)
            })
        });
        rows.collect()
    }
}

/// The conditions of a scene with the whole system.
pub(super) fn of_scene<'a>(scene: &'a Scene, options: &Options) -> Setting<'a> {
    let setting = setting(&scene.script, &scene.paths, scene.tick, options);
    Setting { turns: &scene.turns, ..setting }
}

/// The whole system as users have it, without traces.
fn setting<'a>(
    script: &'a Arc<Script>,
    paths: &'a [Path],
    tick: Duration,
    options: &Options,
) -> Setting<'a> {
    Setting {
        script,
        paths,
        turns: &[],
        tick: options.tick(tick),
        ablation: Ablation::None,
        ends: options.ends(),
        is_traced: false,
        seed: options.common.seed,
    }
}

/// The conditions of a scene's rows.
pub(super) fn scene_conditions(
    scene: &Scene,
    setting: &Setting<'_>,
    options: &Options,
) -> Conditions {
    let conditions = conditions(scene.setup, setting, &scene.loss, options);
    let transport = scene.carrier.unwrap_or(conditions.transport);
    Conditions { network: scene.network, transport, ..conditions }
}

fn conditions(setup: Setup, setting: &Setting<'_>, loss: &str, options: &Options) -> Conditions {
    let first = &setting.paths[0];
    let is_mixed = setting.paths.iter().any(|path| path.lane != first.lane);
    Conditions {
        setup,
        real: false,
        chromium: 0,
        network: None,
        loss: loss.to_owned(),
        rtt_ms: 2e3 * first.round_trip().as_secs_f64(),
        participants: setting.paths.len(),
        transport: if is_mixed { "mixed" } else { transport(first.lane) },
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
