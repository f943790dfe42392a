//! The engine of a cluster, as own processes.

use std::path::Path;

use super::nats::{Nats, SERVERS};
use super::network::{Network, Place};
use super::postgres::Postgres;

/// NATS, or PostgreSQL if the variable `CLUSTER_ENGINE` is `postgres`.
pub(super) enum Engine {
    Nats(Box<Nats>),
    Postgres(Postgres),
}

impl Engine {
    /// Starts it; `None` if it is not installed, which is told.
    pub(super) fn start(network: &mut Network, folder: &Path) -> Option<Self> {
        let folder = folder.join("engine");
        match std::env::var("CLUSTER_ENGINE").as_deref() {
            Ok("postgres") => Postgres::start(network.place(), folder).map(Engine::Postgres),
            Ok(other) => panic!("CLUSTER_ENGINE is {other}, which is no engine"),
            Err(_) => {
                let places = [(); SERVERS].map(|()| network.place());
                let nats = Nats::start_at(places, folder.clone(), folder, true)?;
                Some(Engine::Nats(Box::new(nats)))
            }
        }
    }

    /// The options of a server that uses it.
    pub(super) fn options(&self) -> Vec<String> {
        match self {
            Engine::Nats(nats) => nats.options(),
            Engine::Postgres(postgres) => postgres.options(),
        }
    }

    /// Where its servers run.
    pub(super) fn places(&self) -> &[Place] {
        match self {
            Engine::Nats(nats) => nats.places(),
            Engine::Postgres(postgres) => postgres.places(),
        }
    }

    /// The server that leads the logs of some shards.
    pub(super) fn leader(&self, stream: usize) -> usize {
        match self {
            Engine::Nats(nats) => nats.leader(stream),
            Engine::Postgres(_) => 0,
        }
    }

    pub(super) fn kill(&mut self, at: usize) {
        match self {
            Engine::Nats(nats) => nats.kill(at),
            Engine::Postgres(postgres) => postgres.kill(),
        }
    }

    /// Starts a server again, and waits until all are healthy.
    pub(super) fn restart(&mut self, at: usize) {
        match self {
            Engine::Nats(nats) => {
                nats.restart(at);
                nats.wait();
            }
            Engine::Postgres(postgres) => postgres.restart(),
        }
    }
}
