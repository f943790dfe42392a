//! What further people of a room cost its owner, if they are connected to other servers.

use std::collections::BTreeMap;

use super::awareness::Awareness;
use super::deployment::{Deployment, SERVERS};
use super::usage::{Figures, Watched, medians};
use super::{Engine, Part, Plan, row};
use crate::{Result, Update};

/// The server that has the room. Its senders are there; the others are at the other servers.
const OWNER: usize = 0;
const SENDERS: usize = 10;
const RATE: u32 = 25;
/// The most that further people behind edges should cost the owner, as a share of the cost of
/// serving them itself.
const SHARE: f64 = 0.05;

/// Measures rooms of each size, served by the owner and by the others, and emits a row for each.
pub(super) fn measure(
    engine: &Engine,
    plan: &Plan<'_>,
    emit: &mut dyn FnMut(Update),
) -> Result<()> {
    // The names of rooms begin with their paths.
    let deployment = Deployment::start(plan, engine, &["--large=mirror *"])?;
    let watched = Watched::Cluster(&deployment);
    let mut runs: BTreeMap<(&str, usize), Vec<Figures>> = BTreeMap::new();
    let mut failure = None;
    for repetition in 1..=plan.repetitions {
        for &people in &plan.sizes {
            for path in ["owner", "relay", "mirror"] {
                emit(Update::begun(format!(
                    "{engine}, edges, {people} people, {path}, {repetition}"
                )));
                let kind = format!("{path} {people} {repetition}");
                let room = deployment.rooms_of(OWNER, 1, &kind)?.remove(0);
                let awareness = Awareness {
                    room: &room,
                    ports: ports(&deployment, path != "owner", people),
                    senders: SENDERS,
                    rate: RATE,
                    seed: plan.options.common.seed,
                };
                let delivered = awareness.play(&watched, plan.times, &mut || {})?;
                let load = delivered.load;
                let mut figures = row::of_load(&load);
                let more = load.busy.servers[OWNER] - load.calm.servers[OWNER];
                figures.extend([
                    ("owner_cpu", more),
                    ("calm_cpu", load.calm.servers[OWNER]),
                    ("owner_us_per_delivery", load.each(OWNER)),
                    ("p50_ms", delivered.latency.median),
                    ("p99_ms", delivered.latency.p99),
                ]);
                runs.entry((path, people)).or_default().push(figures);
                failure = failure.or(load.failure);
            }
        }
    }
    let figures: BTreeMap<_, _> = runs.iter().map(|(key, runs)| (*key, medians(runs))).collect();
    let cost = |path: &str| {
        let of_path = figures.iter().filter(|((one, _), _)| *one == path);
        slope(of_path.map(|((_, people), figures)| (*people as f64, figures["owner_cpu"])))
    };
    let share = |path| cost(path).zip(cost("owner")).map(|(further, owner)| further / owner);
    for (&(path, people), figures) in &figures {
        let is_last = path != "owner" && plan.sizes.iter().max() == Some(&people);
        // Passing clients on is for rooms that one server can serve.
        let goal = (is_last && path == "mirror").then_some(("share_of_serving", SHARE));
        let goals: BTreeMap<_, _> = goal.into_iter().collect();
        let row = row::row(Part::Edges, engine, plan)
            .with("path", path)
            .with("rooms", 1)
            .with("people", people)
            .with("senders", SENDERS)
            .with("rate", SENDERS as f64 * f64::from(RATE))
            .with("repetitions", plan.repetitions)
            .with("share_of_serving", share(path).filter(|_| is_last))
            .with("goals", goals);
        emit(Update::Row(row::with_figures(row, figures).failed(failure.clone())));
    }
    Ok(())
}

/// The port of each client's server.
fn ports(deployment: &Deployment, has_edges: bool, people: usize) -> Vec<u16> {
    let server = |number: usize| match number {
        _ if !has_edges || number < SENDERS => OWNER,
        _ => 1 + number % (SERVERS - 1),
    };
    (0..people).map(|number| deployment.port(server(number))).collect()
}

/// The slope of the line that fits these points best. `None` if they have the same place.
fn slope(points: impl Iterator<Item = (f64, f64)>) -> Option<f64> {
    let points: Vec<(f64, f64)> = points.collect();
    let mean =
        |of: fn(&(f64, f64)) -> f64| points.iter().map(of).sum::<f64>() / points.len() as f64;
    let (x, y) = (mean(|point| point.0), mean(|point| point.1));
    let together: f64 = points.iter().map(|point| (point.0 - x) * (point.1 - y)).sum();
    let spread: f64 = points.iter().map(|point| (point.0 - x).powi(2)).sum();
    (spread > 0.0).then(|| together / spread)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_slope_is_what_one_more_costs() {
        assert_eq!(slope([(500.0, 0.3), (1000.0, 0.4), (2000.0, 0.6)].into_iter()), Some(0.0002));
        let noisy = slope([(0.0, 1.0), (1.0, 1.0), (2.0, 2.0)].into_iter());
        assert_eq!(noisy, Some(0.5));
        assert_eq!(slope([(1.0, 5.0)].into_iter()), None);
    }
}
