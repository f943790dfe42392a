//! The counters of rooms, summed over all rooms.

use std::ops::AddAssign;

use groupwire_session::room::Stats;

use crate::figures::figure::figures;

/// Declares the figures of rooms. The list of fields is written only here: their sums and what a
/// closed room leaves are generated from it, and so are the answers to `GET /status` and `GET
/// /metrics`.
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
            // The pattern names all fields: one that is new in `Stats` does not compile until it is
            // listed below.
            fn from(Stats { $($field),* }: Stats) -> Self {
                Totals { $($field),* }
            }
        }

        impl Totals {
            /// The totals that a closed room leaves: its counters, without its gauges.
            pub(crate) fn counters(self) -> Totals {
                Totals { $($field: totals!(@of_closed_room $kind self.$field)),* }
            }
        }

        impl AddAssign for Totals {
            fn add_assign(&mut self, Totals { $($field),* }: Totals) {
                $(self.$field += $field;)*
            }
        }
    };
    (@of_closed_room Counter $value:expr) => { $value };
    (@of_closed_room Gauge $value:expr) => { Default::default() };
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
    /// Messages of late-joiner state that were compressed, counted once for all newcomers that were
    /// sent the same bytes.
    Counter state_coded as "state_coded": u64;
    /// Messages of late-joiner state sent to newcomers as they had been compressed for others.
    Counter state_shared as "state_shared": u64;
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::figures::figure::{Figure, Kind};

    #[test]
    fn totals_are_summed_over_rooms_and_have_the_same_names_and_values_everywhere() {
        let one = Stats { here: 1, messages_in: 2, memory: 13, lost: 16, ..Stats::default() };
        let mut sum = Totals::default();
        for _ in 0..100 {
            sum += one.into();
        }
        let status = serde_json::to_value(sum).unwrap();
        assert_eq!(status["participants"], 100);
        assert_eq!(status["messages_in"], 200);
        assert_eq!(status["room_memory_bytes"], 1300);
        assert_eq!(status["lost"], 1600);
        assert_eq!(status["resumed"], 0);
        let figures = sum.figures();
        for Figure { name, value, .. } in &figures {
            assert_eq!(*value, status[name].as_f64(), "{name}");
        }
        assert_eq!(figures.len(), status.as_object().unwrap().len());
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
