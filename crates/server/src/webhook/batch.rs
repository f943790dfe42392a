//! Puts waiting events into the body of one request.

use std::time::Duration;

use super::event::{Event, timestamp};
use crate::durable::{OutboxEvent, OutboxState};

/// The most events of a request.
pub(super) const MOST_EVENTS: usize = 500;

/// The bytes of the events of a request; an event that is larger goes alone. Frameworks refuse
/// bodies above 100 kB by default.
pub(super) const MOST_BYTES: usize = 64 << 10;

/// The content of a request, which stays the same when the request is repeated.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Batch {
    /// The header `webhook-id`: it has the range of the events' numbers.
    pub(super) id: String,
    /// The number of its last event.
    pub(super) last: u64,
    /// Its events, without gaps.
    pub(super) count: usize,
    pub(super) body: Vec<u8>,
}

/// Makes the body of a request of these events, which are the oldest ones of the queue. Where
/// numbers are missing, an event of type `gap` says how many. `None` if there are no events.
pub(super) fn compose(state: &OutboxState, events: &[OutboxEvent]) -> Option<Batch> {
    let last = events.last()?;
    let queue = state.id;
    let id = |number: u64| format!("{queue:016x}-{number}");
    let mut told = Vec::with_capacity(events.len());
    let (mut before, mut from) = (state.told, ms(state.told_time));
    for event in events {
        let missing = event.number.saturating_sub(before + 1);
        if missing > 0 {
            let gap = Event::gap(missing, from, ms(event.time));
            told.push(gap.with_id(&id(event.number - 1)));
        }
        told.push(Event(event.bytes.clone()).with_id(&id(event.number)));
        (before, from) = (event.number, ms(event.time));
    }
    let timestamp = timestamp(ms(last.time));
    let head =
        format!(r#"{{"type":"groupwire.events","timestamp":"{timestamp}","data":{{"events":["#);
    let body = [head.as_bytes(), &told.join(&b','), b"]}}"].concat();
    let first = state.told + 1;
    let id = format!("msg_{queue:016x}_{first}_{}", last.number);
    Some(Batch { id, last: last.number, count: events.len(), body })
}

fn ms(time: u64) -> Duration {
    Duration::from_millis(time)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use proptest::prelude::*;
    use serde_json::Value;

    use super::*;
    use crate::durable::{Outbox, OutboxLimits, outbox_in_memory, wait};

    fn outbox(max_bytes: u64) -> Arc<dyn Outbox> {
        outbox_in_memory(OutboxLimits { max_bytes, max_age: Duration::from_secs(3600) })
    }

    fn put(outbox: &dyn Outbox, event: Vec<u8>) {
        wait(|done| outbox.put_events("room", vec![event], done)).unwrap();
    }

    fn event(text: &str) -> Vec<u8> {
        format!(r#"{{"type":"x","data":"{text}"}}"#).into_bytes()
    }

    /// The events in a batch: the number and the content of each.
    fn read(batch: &Batch) -> Vec<(u64, Value)> {
        let body: Value = serde_json::from_slice(&batch.body).unwrap();
        assert_eq!(body["type"], "groupwire.events");
        let number = |event: &Value| {
            event["id"].as_str().unwrap().rsplit_once('-').unwrap().1.parse().unwrap()
        };
        let events = body["data"]["events"].as_array().unwrap();
        events.iter().map(|event| (number(event), event.clone())).collect()
    }

    #[test]
    fn a_request_has_events_with_ids_and_one_of_its_own() {
        let outbox = outbox(9999);
        let state = outbox.outbox().unwrap();
        assert_eq!(compose(&state, &[]), None);
        (0..3).for_each(|n| put(&*outbox, event(&n.to_string())));
        let mut events = outbox.events(9, 2, 999).unwrap();
        events.iter_mut().for_each(|event| event.time = event.number - 1);
        let batch = compose(&state, &events).unwrap();
        let queue_id = format!("{:016x}", state.id);
        assert_eq!((batch.id, batch.last, batch.count), (format!("msg_{queue_id}_1_2"), 2, 2));
        let body = String::from_utf8(batch.body).unwrap();
        let expected = format!(
            "{{\"type\":\"groupwire.events\",\"timestamp\":\"1970-01-01T00:00:00.001Z\",\"data\":{{\"events\":[\
             {{\"id\":\"{queue_id}-1\",\"type\":\"x\",\"data\":\"0\"}},{{\"id\":\"{queue_id}-2\",\"type\":\"x\",\"data\":\"1\"}}]}}}}"
        );
        assert_eq!(body, expected);
    }

    proptest! {
        /// However events are put, delivered and dropped, a receiver gets every number once and in
        /// order, dropped events as a gap, and requests keep their limits.
        #[test]
        fn every_event_is_told_in_order_or_as_part_of_a_gap(
            steps in prop::collection::vec((0usize..6, 0usize..300, 1usize..8, 50usize..400), 1..60),
            max_bytes in 500u64..5000,
        ) {
            let outbox = outbox(max_bytes);
            let (mut told, mut missing) = (0, 0);
            for (puts, length, most_events, most_bytes) in steps {
                (0..puts).for_each(|_| put(&*outbox, event(&"y".repeat(length))));
                let events = outbox.events(u64::MAX, most_events, most_bytes).unwrap();
                let state = outbox.outbox().unwrap();
                let Some(batch) = compose(&state, &events) else { continue };
                prop_assert!(batch.count <= most_events);
                let bytes: usize = events.iter().map(|event| event.bytes.len()).sum();
                prop_assert!(bytes <= most_bytes || batch.count == 1);
                let range = format!("_{}_{}", told + 1, batch.last);
                prop_assert!(batch.id.ends_with(&range), "{}", batch.id);
                for (number, event) in read(&batch) {
                    let gap = event["data"]["count"].as_u64();
                    prop_assert_eq!(event["type"] == "gap", gap.is_some());
                    missing += gap.unwrap_or_default();
                    told += gap.unwrap_or(1);
                    prop_assert_eq!(number, told);
                }
                prop_assert_eq!(told, batch.last);
                wait(|done| outbox.events_told(batch.last, done)).unwrap();
            }
            let state = outbox.outbox().unwrap();
            let behind = state.next - 1 - told - state.waiting;
            prop_assert_eq!(missing + behind, state.dropped);
        }
    }
}
