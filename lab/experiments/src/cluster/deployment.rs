//! Three servers that share their rooms, and what keeps the rooms for them.

use std::fs;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::{self, sleep};
use std::time::{Duration, Instant};

use super::Plan;
use super::member::Member;
use super::nats::Nats;
use super::{Engine, NATS_MISSING};
use crate::Result;
use crate::durable::listener::Listener;
use crate::host::{Folder, status};

/// The servers of a cluster, and those of its engine.
pub(super) const SERVERS: usize = 3;

/// How long the cluster may take until a server has rooms.
const PATIENCE: Duration = Duration::from_secs(60);
/// The time between two checks whether a condition holds.
const LOOK: Duration = Duration::from_millis(100);
/// A server hands no shard over to one that came less than 10 s ago, and then all at once: after
/// this time every shard is where it stays.
const SETTLING: Duration = Duration::from_secs(12);

/// The servers, which are killed when this is dropped.
pub(super) struct Deployment {
    pub(super) members: Vec<Member>,
    /// `None` if the engine is not of this deployment.
    pub(super) nats: Option<Nats>,
    pub(super) folder: Folder,
}

impl Deployment {
    /// Starts the engine, unless it runs already, and the servers with these further options.
    pub(super) fn start(plan: &Plan<'_>, engine: &Engine, options: &[&str]) -> Result<Self> {
        static COUNT: AtomicUsize = AtomicUsize::new(0);
        let folder = Folder::new(&plan.data)?;
        let secret = folder.path().join("secret");
        fs::write(&secret, format!("a secret of the cluster of process {}", std::process::id()))?;
        let mut all: Vec<String> = options.iter().map(|option| (*option).to_owned()).collect();
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        all.push(format!("--cluster-secret={}", secret.display()));
        all.push(format!("--cluster-name=lab-{}-{count}", std::process::id()));
        let nats = match engine {
            Engine::Nats => {
                let program = plan.nats.as_ref().ok_or(NATS_MISSING)?;
                Some(Nats::start(program, folder.path().join("nats"))?)
            }
            Engine::At(address) => {
                all.push(format!("--engine={address}"));
                None
            }
        };
        all.extend(nats.iter().flat_map(Nats::options));
        let member =
            |name| Member::new(&plan.program, plan.options.tick, (name, folder.path()), &all);
        let members = ["a", "b", "c"].map(member).into_iter().collect::<Result<Vec<_>>>()?;
        let mut deployment = Deployment { members, nats, folder };
        deployment.start_members()?;
        if !plan.options.common.quick {
            sleep(SETTLING);
        }
        Ok(deployment)
    }

    /// Starts all servers at the same time, so that each takes its part of the shards at once.
    fn start_members(&mut self) -> Result<()> {
        thread::scope(|scope| {
            let starting = self
                .members
                .iter_mut()
                .map(|member| scope.spawn(|| member.start().map_err(|error| error.to_string())));
            let starting: Vec<_> = starting.collect();
            let started = starting.into_iter().map(|thread| match thread.join() {
                Ok(started) => Ok(started?),
                Err(_) => Err("the thread that starts a server ended".into()),
            });
            started.collect()
        })
    }

    /// The port of a server.
    pub(super) fn port(&self, at: usize) -> u16 {
        self.members[at].port
    }

    /// Names of `count` rooms that a server has, each of which begins with `kind`.
    ///
    /// # Errors
    /// The server does not take clients, or has too few rooms.
    pub(super) fn rooms_of(&self, at: usize, count: usize, kind: &str) -> Result<Vec<String>> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let (start, port) = (Instant::now(), self.port(at));
        let (mut rooms, mut number) = (Vec::new(), 0);
        let mut listeners = Vec::new();
        while rooms.len() < count {
            if start.elapsed() > PATIENCE {
                let found = rooms.len();
                return Err(
                    format!("a server of the cluster has only {found} of {count} rooms").into()
                );
            }
            let room = format!("{kind} {number}");
            let before = open_rooms(port);
            // While nobody has the shard of the room, the server tells its clients to come back.
            let Ok(listener) = runtime.block_on(Listener::join(port, &room, number)) else {
                sleep(LOOK);
                continue;
            };
            // As long as somebody is in them, no room is closed meanwhile.
            listeners.push(listener);
            number += 1;
            if open_rooms(port) > before {
                rooms.push(room);
            }
        }
        Ok(rooms)
    }

    /// Waits until a server has `count` open rooms.
    pub(super) fn await_rooms(&self, at: usize, count: usize) -> Result<()> {
        let start = Instant::now();
        while open_rooms(self.port(at)) < Some(count as u64) {
            if start.elapsed() > PATIENCE {
                return Err("a server that came back was not given its rooms again".into());
            }
            sleep(LOOK);
        }
        Ok(())
    }
}

/// The number of open rooms that a server has, without those that it only passes clients on to.
fn open_rooms(port: u16) -> Option<u64> {
    status(port)?["rooms"].as_u64()
}
