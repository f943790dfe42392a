//! The rows of the experiment `fanout`.

use std::collections::BTreeMap;

use super::Options;
use super::system::System;
use crate::Row;

/// lab/README.md says what each field means.
const FIELDS: &str = "system version tick_ms clients senders rate loss seconds messages delivered deliveries sampled p50_ms \
    p99_ms mean_ms server_us_per_delivery kb_per_connection idle_connections socket_bytes_per_delivery \
    wire_bytes_per_delivery server_cpu generator_cpu cores goals";

/// A row of a system that has no figures yet.
pub(super) fn row(system: &System, clients: usize, options: &Options) -> Row {
    Row::new("fanout", FIELDS, &options.common)
        .with("system", system.name)
        .with("tick_ms", system.tick_ms)
        .with("clients", clients)
        .with("senders", options.senders.min(clients))
        .with("rate", options.rate)
        .with("loss", 0.0)
        .with("goals", goals(system.name, system.tick_ms, clients))
}

/// The goals: names of fields and the largest values that they should have.
fn goals(system: &str, tick_ms: u64, clients: usize) -> BTreeMap<&'static str, f64> {
    let mut goals = BTreeMap::new();
    match (system, tick_ms, clients) {
        ("groupwire-websocket", 0, 100) => {
            goals.extend([("p99_ms", 2.0), ("server_us_per_delivery", 6.0)]);
        }
        ("groupwire-websocket", 1.., _) => {
            goals.extend([("socket_bytes_per_delivery", 6.0), ("wire_bytes_per_delivery", 12.0)]);
            if clients == 500 {
                goals.insert("server_us_per_delivery", 1.0);
            }
        }
        ("groupwire-webtransport", 1.., 500) => drop(goals.insert("server_us_per_delivery", 3.0)),
        _ => {}
    }
    if system == "groupwire-websocket" {
        goals.insert("kb_per_connection", 10.0);
    }
    if system.starts_with("groupwire") && tick_ms > 0 {
        match clients {
            500 => drop(goals.insert("p99_ms", tick_ms as f64 + 8.0)),
            1000 => drop(goals.insert("p99_ms", tick_ms as f64 + 15.0)),
            _ => {}
        }
    }
    goals
}
