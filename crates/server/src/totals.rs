//! The counters of rooms. The list of fields is written only here; their sums and the answer to `GET /status` are
//! generated from it.

use std::ops::AddAssign;

use groupwire_session::room::Stats;
use serde::Serialize;

macro_rules! totals {
    ($($(#[$attribute:meta])* $field:ident: $type:ty,)*) => {
        /// The counters of one room, or their sum over several rooms: a part of the answer to `GET /status`.
        #[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
        pub(crate) struct Totals {
            $($(#[$attribute])* pub(crate) $field: $type,)*
        }

        impl From<Stats> for Totals {
            // The pattern names all fields: one that is new in `Stats` does not compile until it is listed below.
            fn from(Stats { $($field),* }: Stats) -> Self {
                Totals { $($field),* }
            }
        }

        impl AddAssign for Totals {
            fn add_assign(&mut self, Totals { $($field),* }: Totals) {
                $(self.$field += $field;)*
            }
        }
    };
}

totals! {
    /// Participants that have a connection now.
    #[serde(rename = "participants")]
    here: usize,
    /// Messages received from clients.
    messages_in: u64,
    /// Bytes of the messages received, before compression.
    bytes_in_before: u64,
    /// Packets received from clients.
    packets_in: u64,
    /// Bytes of the packets received.
    bytes_in_after: u64,
    /// Messages sent, counted once per receiver.
    deliveries: u64,
    /// Bytes of the messages sent, before compression.
    bytes_out_before: u64,
    /// Packets sent to clients.
    packets_out: u64,
    /// Bytes of the packets sent.
    bytes_out_after: u64,
    /// Awareness values replaced by newer ones of their key before they were sent.
    conflated: u64,
    /// Values of aggregated channels dropped because a receiver was too slow.
    expired: u64,
    /// Datagrams received that could not be decoded.
    datagrams_unread: u64,
    /// Bytes of messages, snapshots and codec state that the rooms hold now.
    #[serde(rename = "room_memory_bytes")]
    memory: usize,
}

impl Totals {
    /// The totals that a closed room leaves: its counters, but neither participants nor memory.
    pub(crate) fn counters(self) -> Totals {
        Totals { here: 0, memory: 0, ..self }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn status_has_every_total_of_the_rooms_summed() {
        let one = Stats {
            here: 1,
            messages_in: 2,
            bytes_in_before: 3,
            packets_in: 4,
            bytes_in_after: 5,
            deliveries: 6,
            bytes_out_before: 7,
            packets_out: 8,
            bytes_out_after: 9,
            conflated: 10,
            expired: 11,
            datagrams_unread: 12,
            memory: 13,
        };
        let mut sum = Totals::default();
        for _ in 0..100 {
            sum += one.into();
        }
        let expected = serde_json::json!({
            "participants": 100,
            "messages_in": 200,
            "bytes_in_before": 300,
            "packets_in": 400,
            "bytes_in_after": 500,
            "deliveries": 600,
            "bytes_out_before": 700,
            "packets_out": 800,
            "bytes_out_after": 900,
            "conflated": 1000,
            "expired": 1100,
            "datagrams_unread": 1200,
            "room_memory_bytes": 1300,
        });
        assert_eq!(serde_json::to_value(sum).unwrap(), expected);
        let closed = sum.counters();
        assert_eq!((closed.here, closed.memory, closed.messages_in), (0, 0, 200));
    }
}
