//! What the experiment yields.

use std::collections::BTreeMap;

use serde::Serialize;

/// A system with so many clients. What could not be measured is `None`.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Row {
    /// One of [`SYSTEMS`](super::SYSTEMS).
    pub system: &'static str,
    /// Name and version of what ran, as it says.
    pub version: Option<String>,
    /// What is collected before it is sent; 0: sent at once.
    pub tick_ms: u64,
    /// In the room, senders among them.
    pub clients: usize,
    /// Those who send.
    pub senders: usize,
    /// Messages per second from each.
    pub rate: u32,
    /// Of the network: none.
    pub loss: f64,
    /// How long was measured.
    pub seconds: f64,
    /// Messages that were sent, what was before and after the measured time included.
    pub messages: u64,
    /// Of their deliveries to everybody else, the share that came.
    pub delivered: f64,
    /// Deliveries within the measured time.
    pub deliveries: u64,
    /// Receivers at which latency was taken.
    pub sampled: usize,
    /// From the sender's application to the receiver's, in the median.
    pub p50_ms: Option<f64>,
    /// What 99 of 100 took at most.
    pub p99_ms: Option<f64>,
    /// The mean.
    pub mean_ms: Option<f64>,
    /// The server's processor time, user and system.
    pub server_us_per_delivery: Option<f64>,
    /// Memory that the server has more for each of `idle_connections` that are in the room and silent.
    pub kb_per_connection: Option<f64>,
    /// How many those were.
    pub idle_connections: Option<usize>,
    /// Received, headers of WebSocket included; for QUIC, payload of UDP.
    pub socket_bytes_per_delivery: Option<f64>,
    /// What left the server, headers of IP and TCP or UDP included.
    pub wire_bytes_per_delivery: Option<f64>,
    /// Processors that the server kept busy.
    pub server_cpu: Option<f64>,
    /// Processors that all clients, in one process, kept busy.
    pub generator_cpu: Option<f64>,
    /// Processors of the machine, for both.
    pub cores: usize,
    /// Of the pointers' motion.
    pub seed: u64,
    /// What is aimed at: fields and the most that they should be.
    pub goals: BTreeMap<&'static str, f64>,
    /// Whether less was measured than for a full measurement.
    pub quick: bool,
    /// Whether nothing came that was not sent, twice, or out of order, and, of Groupwire over a reliable transport, all.
    pub verified: bool,
    /// What was wrong.
    pub failure: Option<String>,
}

/// What is aimed at: fields and the most that they should be.
pub(super) fn goals(system: &str, tick_ms: u64, clients: usize) -> BTreeMap<&'static str, f64> {
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

impl Row {
    /// A field that has a goal.
    pub fn value(&self, field: &str) -> Option<f64> {
        match field {
            "p99_ms" => self.p99_ms,
            "server_us_per_delivery" => self.server_us_per_delivery,
            "socket_bytes_per_delivery" => self.socket_bytes_per_delivery,
            "wire_bytes_per_delivery" => self.wire_bytes_per_delivery,
            "kb_per_connection" => self.kb_per_connection,
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::goals;

    #[test]
    fn goals_are_groupwires_by_tick_and_room() {
        assert_eq!(goals("groupwire-websocket", 40, 500)["p99_ms"], 48.0);
        assert_eq!(goals("groupwire-websocket", 0, 100)["server_us_per_delivery"], 6.0);
        assert_eq!(goals("groupwire-webtransport", 40, 1000)["p99_ms"], 55.0);
        assert!(goals("ws", 0, 100).is_empty());
    }
}
