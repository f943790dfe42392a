//! The experiment over real sockets: each scene beside the same one in simulated time.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use super::Options;
use super::hand::Hands;
use super::play;
use super::real::{self, SceneResources};
use super::row::Conditions;
use super::scene::Scene;
use super::setups::{Job, Outcome, of_scene, scene_conditions};
use crate::browsers::{Engine, Open, Page};
use crate::emulator::{Emulator, Namespace, Path};
use crate::{Result, Row, Update, parallel};

/// Seeds of each setup, and of a quick experiment.
const SEEDS: u64 = 3;
const QUICK_SEEDS: u64 = 1;
/// The duration of a session in seconds, and that of a quick experiment.
const SECONDS: u64 = 120;
const QUICK_SECONDS: u64 = 8;
/// The most participants of a scene.
const MOST: usize = 10;

/// A scene, and the index of its job.
struct Take {
    place: usize,
    seed: u64,
    scene: Scene,
}

/// Plays the scenes of jobs with some seeds each, over real sockets and then in simulated time.
/// Rows are of all seeds together: of each channel the real one, then the simulated one.
///
/// # Errors
/// No network, no server.
pub(super) fn run(
    namespace: &Namespace,
    jobs: &[Job],
    hands: &Hands,
    options: &Options,
    emit: &mut dyn FnMut(Update),
) -> Result<()> {
    let program = options.program.path()?;
    let clients = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let takes = takes(jobs, hands, options, emit);
    let workers = options.threads.count();
    let pages = options.chromium;
    let mut open =
        (pages > 0).then(|| Open::pages(Engine::Chromium, workers * pages)).transpose()?;
    let origins = open.as_ref().map(Open::origins).unwrap_or_default();
    let mut all = open.as_mut().map(|open| std::mem::take(&mut open.pages)).unwrap_or_default();
    // Each worker takes the jobs of one chunk.
    let chunks = std::iter::repeat_with(|| Mutex::new(all.drain(..pages).collect::<Vec<_>>()));
    let pages: Vec<Mutex<Vec<Page>>> = chunks.take(workers).collect();
    let emulator = Emulator::start(namespace, &vec![Path::default(); workers * MOST])?;
    let outcomes = Outcomes::default();
    let job = |worker: usize, take: &Take, emit: &mut dyn FnMut(Update)| {
        emit(Update::begun(format!("{} {} over sockets", take.scene.setup, take.scene.loss)));
        let (emulator, clients) = (&emulator, clients.handle());
        let (first, origins) = (worker * MOST, &origins[..]);
        let place = SceneResources { emulator, first, program: &program, clients, origins };
        let mut pages = pages[worker].lock().unwrap_or_else(PoisonError::into_inner);
        let (script, played) = real::play(&place, &mut pages, &take.scene, take.seed);
        outcomes.add(take.place, true, Outcome::of(&take.scene, &script, played));
    };
    parallel::run((&takes, takes.len()), workers, &job, emit);
    drop(open);
    let job = |_: usize, take: &Take, _: &mut dyn FnMut(Update)| {
        if take.scene.carrier.is_some() {
            return;
        }
        let played = play::play(&of_scene(&take.scene, options));
        outcomes.add(take.place, false, Outcome::of(&take.scene, &take.scene.script, played));
    };
    parallel::run((&takes, takes.len()), workers, &job, emit);
    for take in first_of_each(&takes) {
        let setting = of_scene(&take.scene, options);
        let conditions = scene_conditions(&take.scene, &setting, options);
        let rows = |real| {
            let chromium = if real { options.chromium } else { 0 };
            let conditions = Conditions { real, chromium, ..conditions.clone() };
            let outcome = outcomes.take(take.place, real);
            outcome.map_or_else(Vec::new, |one| one.rows(&conditions, &take.scene))
        };
        let mut simulated = rows(false).into_iter();
        for real in rows(true) {
            match simulated.next() {
                Some(simulated) => {
                    emit(Update::Row(beside(real, &simulated)));
                    emit(Update::Row(simulated));
                }
                None => emit(Update::Row(real)),
            }
        }
    }
    Ok(())
}

/// The scenes of the jobs that can be played over real sockets, with each seed.
fn takes(
    jobs: &[Job],
    hands: &Hands,
    options: &Options,
    emit: &mut dyn FnMut(Update),
) -> Vec<Take> {
    let seeds = options.seeds.unwrap_or(options.common.quick_or(QUICK_SEEDS, SEEDS));
    let length = options.length(SECONDS, QUICK_SECONDS);
    let mut takes = Vec::new();
    for (place, job) in jobs.iter().enumerate() {
        for seed in (0..seeds).map(|number| options.common.seed + number) {
            match job.scene(hands, seed, length) {
                Some(scene) => takes.push(Take { place, seed, scene }),
                None if seed == options.common.seed => {
                    let why = "it is not played over real sockets".to_owned();
                    emit(Update::Skipped { what: job.to_string(), why });
                }
                None => {}
            }
        }
    }
    takes
}

fn first_of_each(takes: &[Take]) -> impl Iterator<Item = &Take> {
    let is_first = |(at, take): &(usize, &Take)| *at == 0 || takes[at - 1].place != take.place;
    takes.iter().enumerate().filter(is_first).map(|(_, take)| take)
}

/// The real row, with its ratios to the simulated one; for missed messages, with the difference.
fn beside(real: Row, simulated: &Row) -> Row {
    let both = |field: &str| real.number(field).zip(simulated.number(field));
    let apart = |field| both(field).map(|(real, simulated)| real / simulated - 1.0);
    let (bytes, p50, p99) = (apart("wire_bytes_per_message"), apart("p50_ms"), apart("p99_ms"));
    let missed = both("mer").map(|(real, simulated)| real - simulated);
    real.with("bytes_apart", bytes)
        .with("p50_apart", p50)
        .with("p99_apart", p99)
        .with("mer_apart", missed)
}

/// The outcome of each scene, by its number and whether it ran over real sockets.
#[derive(Default)]
struct Outcomes(Mutex<BTreeMap<(usize, bool), Outcome>>);

impl Outcomes {
    fn add(&self, place: usize, real: bool, outcome: Outcome) {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match all.get_mut(&(place, real)) {
            Some(known) => known.add(outcome),
            None => drop(all.insert((place, real), outcome)),
        }
    }

    fn take(&self, place: usize, real: bool) -> Option<Outcome> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).remove(&(place, real))
    }
}
