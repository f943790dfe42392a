//! The processor time of the servers while something happens, beside what they use when nothing
//! happens.

use std::collections::BTreeMap;
use std::ops::Add;
use std::time::{Duration, Instant};

use super::deployment::Deployment;
use super::nats::Nats;
use crate::server::{Server, threads};
use crate::{Result, statistics};

/// Figures of one run, by the fields of a row.
pub(super) type Figures = BTreeMap<&'static str, f64>;

/// The durations of a measurement.
#[derive(Debug, Clone, Copy)]
pub(super) struct Times {
    /// How long the servers are measured while clients are connected and send nothing.
    pub(super) calm: Duration,
    /// The time before the measurement, in which compression learns.
    pub(super) warm_up: Duration,
    pub(super) measured: Duration,
    /// If nothing arrives for this time, all has arrived.
    pub(super) silence: Duration,
}

/// What the servers did in the measured time.
#[derive(Debug)]
pub(super) struct Load {
    pub(super) calm: Busy,
    pub(super) busy: Busy,
    pub(super) deliveries: u64,
    /// Deliveries as a share of what was sent to everybody, from the beginning to the end.
    pub(super) delivered: f64,
    pub(super) failure: Option<String>,
}

impl Load {
    /// The processor time in µs that a server used for each delivery to anybody.
    pub(super) fn each(&self, server: usize) -> f64 {
        self.busy.each(&self.calm, server, self.deliveries)
    }
}

/// The processor time of all processes until a moment.
#[derive(Debug, Clone)]
pub(super) struct Used {
    at: Instant,
    /// By server.
    servers: Vec<Threads>,
    /// Of all servers of the engine; none if it is not of this experiment.
    engine: Vec<Threads>,
    /// Of this process, in which all clients are.
    generator: Threads,
}

/// The processor time of each thread of a process. Servers end threads that have had nothing to do
/// for some time, and with a thread the system forgets its time.
type Threads = BTreeMap<u32, Duration>;

/// The processors that were kept busy for some time.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Busy {
    pub(super) seconds: f64,
    pub(super) servers: Vec<f64>,
    pub(super) engine: f64,
    pub(super) generator: f64,
}

/// The processes whose time is measured.
pub(super) enum Watched<'a> {
    Cluster(&'a Deployment),
    /// A server without a cluster.
    Alone(&'a Server),
}

impl Watched<'_> {
    /// The time that all have used until now.
    ///
    /// # Errors
    /// The system does not say, or a server has ended.
    pub(super) fn used(&self) -> Result<Used> {
        const UNKNOWN: &str = "the processor time of a server is not to be had";
        let used = |process: u32| threads(process).ok_or(UNKNOWN);
        let (mut servers, mut engine) = (Vec::new(), Vec::new());
        match self {
            Watched::Alone(server) => servers.push(used(server.process())?),
            Watched::Cluster(deployment) => {
                for member in &deployment.members {
                    servers.push(used(member.server()?.process())?);
                }
                for process in deployment.nats.iter().flat_map(Nats::processes) {
                    engine.push(used(process)?);
                }
            }
        }
        let generator = used(std::process::id())?;
        Ok(Used { at: Instant::now(), servers, engine, generator })
    }
}

impl Used {
    /// The processors that were kept busy since an earlier moment.
    pub(super) fn since(&self, before: &Used) -> Busy {
        let seconds = (self.at - before.at).as_secs_f64();
        let share =
            |(after, before): (&Threads, &Threads)| more(after, before).as_secs_f64() / seconds;
        Busy {
            seconds,
            servers: self.servers.iter().zip(&before.servers).map(share).collect(),
            engine: self.engine.iter().zip(&before.engine).map(share).fold(0.0, f64::add),
            generator: share((&self.generator, &before.generator)),
        }
    }
}

/// The time that threads used since an earlier moment. What a thread used that has ended meanwhile
/// is not known.
fn more(after: &Threads, before: &Threads) -> Duration {
    let earlier = |thread| before.get(thread).copied().unwrap_or_default();
    after.iter().map(|(thread, time)| time.saturating_sub(earlier(thread))).sum()
}

impl Busy {
    /// The processor time in µs that a server used beyond `calm`, for each of `count` things that
    /// were done meanwhile.
    pub(super) fn each(&self, calm: &Busy, server: usize, count: u64) -> f64 {
        let more = (self.servers[server] - calm.servers[server]).max(0.0);
        more * self.seconds * 1e6 / count.max(1) as f64
    }
}

/// The medians of each figure over the runs that have it.
pub(super) fn medians(runs: &[Figures]) -> Figures {
    let fields = runs.iter().flat_map(BTreeMap::keys);
    let middle = |field: &&'static str| {
        let values = runs.iter().filter_map(|run| run.get(*field)).copied().collect();
        (*field, statistics::median(values))
    };
    fields.map(middle).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn busy(seconds: f64, servers: &[f64]) -> Busy {
        Busy { seconds, servers: servers.to_vec(), engine: 0.0, generator: 0.0 }
    }

    #[test]
    fn the_time_of_idle_servers_is_no_cost_of_what_is_done() {
        let (calm, load) = (busy(2.0, &[0.1, 0.2]), busy(10.0, &[0.6, 0.1]));
        assert!((load.each(&calm, 0, 1_000_000) - 5.0).abs() < 1e-9);
        assert_eq!(load.each(&calm, 1, 1_000_000), 0.0);
    }

    #[test]
    fn shares_are_of_the_time_between() {
        let at = Instant::now();
        let threads = |millis: &[(u32, u64)]| -> Threads {
            millis.iter().map(|(thread, time)| (*thread, Duration::from_millis(*time))).collect()
        };
        let used = |seconds, one: &[(u32, u64)]| Used {
            at: at + Duration::from_secs(seconds),
            servers: vec![threads(one), threads(&[(7, 700)])],
            engine: vec![threads(one), threads(one)],
            generator: threads(&[]),
        };
        // The second thread has ended, the third one is new.
        let busy = used(3, &[(1, 900), (3, 200)]).since(&used(1, &[(1, 100), (2, 5000)]));
        assert_eq!((busy.seconds, busy.servers, busy.engine), (2.0, vec![0.5, 0.0], 1.0));
    }

    #[test]
    fn medians_are_over_the_runs_that_have_a_figure() {
        let runs = [3.0, 1.0, 2.0].map(|value| Figures::from([("p50_ms", value)]));
        let all = [&runs[..], &[Figures::from([("p99_ms", 7.0)])]].concat();
        assert_eq!(medians(&all), Figures::from([("p50_ms", 2.0), ("p99_ms", 7.0)]));
    }
}
