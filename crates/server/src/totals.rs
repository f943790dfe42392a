//! The counters of rooms, summed over all rooms.

use std::ops::AddAssign;

use groupwire_session::room::Stats;

use crate::metrics::figure::figures;

/// Declares the figures of rooms. The list of fields is written only here: their sums are generated from it, and so are the
/// answers to `GET /status` and `GET /metrics`.
macro_rules! totals {
    ($($(#[doc = $help:literal])+ $kind:ident $field:ident as $name:literal: $type:ty $(, part of $family:literal with $label:ident = $value:literal)?;)*) => {
        figures! {
            /// The counters of one room, or their sum over several rooms.
            #[derive(Default)]
            struct Totals {
                $(
                    $(#[doc = $help])+
                    $kind $field as $name: $type $(, part of $family with $label = $value)?;
                )*
            }
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
    Gauge here as "participants": usize;
    /// Messages received from clients.
    Counter messages_in as "messages_in": u64;
    /// Bytes of the messages received, before compression.
    Counter bytes_in_before as "bytes_in_before": u64;
    /// Packets received from clients.
    Counter packets_in as "packets_in": u64;
    /// Bytes of the packets received.
    Counter bytes_in_after as "bytes_in_after": u64;
    /// Messages sent, counted once per receiver.
    Counter deliveries as "deliveries": u64;
    /// Bytes of the messages sent, before compression.
    Counter bytes_out_before as "bytes_out_before": u64;
    /// Packets sent to clients.
    Counter packets_out as "packets_out": u64;
    /// Bytes of the packets sent.
    Counter bytes_out_after as "bytes_out_after": u64;
    /// Awareness values replaced by newer ones of their key before they were sent.
    Counter conflated as "conflated": u64;
    /// Values of aggregated channels dropped because a receiver was too slow.
    Counter expired as "expired": u64;
    /// Datagrams received that could not be decoded.
    Counter datagrams_unread as "datagrams_unread": u64;
    /// Clients that joined a room, those that resumed their session included.
    Counter joins as "joins": u64;
    /// Clients that asked to resume a session, by outcome.
    Counter resumed as "resumed": u64, part of "resume" with outcome = "resumed";
    /// Clients whose session could not be resumed.
    Counter lost as "lost": u64, part of "resume" with outcome = "lost";
    /// Gaps that clients are told of, by reason.
    Counter gaps as "gaps": u64, part of "gap" with reason = "history";
    /// Sessions that could not be resumed, because the room no longer knew the participant.
    Counter lost_sessions as "lost_sessions": u64, part of "gap" with reason = "session";
    /// Sessions that could not be resumed, because the room had begun anew.
    Counter lost_incarnations as "lost_incarnations": u64, part of "gap" with reason = "incarnation";
    /// Participants that are above a quota now, and are slowed down.
    Gauge limited as "limited": usize;
    /// How often a participant came above a quota.
    Counter limitations as "limitations": u64;
    /// How often reading from a client was delayed because of a quota.
    Counter delayed_reads as "delayed_reads": u64;
    /// Bytes of messages, snapshots and codec state that the rooms hold now.
    Gauge memory as "room_memory_bytes": usize;
}

impl Totals {
    /// The totals that a closed room leaves: its counters, but neither participants nor memory.
    pub(crate) fn counters(self) -> Totals {
        Totals { here: 0, limited: 0, memory: 0, ..self }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metrics::figure::{Figure, Kind};

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
            joins: 14,
            resumed: 15,
            lost: 16,
            lost_sessions: 17,
            lost_incarnations: 18,
            gaps: 19,
            limited: 20,
            limitations: 21,
            delayed_reads: 22,
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
            "joins": 1400,
            "resumed": 1500,
            "lost": 1600,
            "lost_sessions": 1700,
            "lost_incarnations": 1800,
            "gaps": 1900,
            "limited": 2000,
            "limitations": 2100,
            "delayed_reads": 2200,
        });
        assert_eq!(serde_json::to_value(sum).unwrap(), expected);
        let figures = sum.figures();
        for Figure { name, value, .. } in &figures {
            assert_eq!(*value, expected[name].as_f64(), "{name}");
        }
        assert_eq!(figures.len(), expected.as_object().unwrap().len());
        let closed = sum.counters();
        assert_eq!(
            (closed.here, closed.limited, closed.memory, closed.messages_in),
            (0, 0, 0, 200)
        );
    }

    #[test]
    fn only_what_a_closed_room_leaves_is_a_counter() {
        let one = Stats { here: 1, limited: 1, memory: 1, joins: 1, ..Stats::default() };
        for Figure { kind, name, value, .. } in Totals::from(one).counters().figures() {
            let is_kept = name == "joins";
            assert_eq!(value == Some(1.0), is_kept, "{name}");
            let is_gauge = ["participants", "limited", "room_memory_bytes"].contains(&name);
            assert_eq!(kind == Kind::Gauge, is_gauge, "{name}");
        }
    }
}
