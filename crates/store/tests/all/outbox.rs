//! Events that wait for somebody outside: stored with what they tell of, read in order, and dropped
//! when they are too many or too old.

use std::time::Duration;

use groupwire_disk::Fault;
use groupwire_store::{Append, OutboxEvent, OutboxLimits, OutboxState, Stores, wait};

use crate::support::{DAY, Machine, Waiting, append, part, record};

const LIMITS: OutboxLimits = OutboxLimits { max_bytes: 100_000, max_age: DAY };

fn machines() -> [Machine; 2] {
    Machine::both().map(|mut machine| {
        machine.options.outbox = Some(LIMITS);
        machine
    })
}

fn machine() -> Machine {
    let [machine, _] = machines();
    machine
}

fn put(store: &Stores, room: &str, events: &[&str]) {
    let events = events.iter().map(|event| event.as_bytes().to_vec()).collect();
    wait(|done| store.outbox.put_events(room, events, done)).unwrap();
}

fn tell(store: &Stores, number: u64) {
    wait(|done| store.outbox.events_told(number, done)).unwrap();
}

/// The numbers and contents of all events that wait.
fn waiting(store: &Stores) -> Vec<(u64, String)> {
    let events = store.outbox.events(u64::MAX, usize::MAX, usize::MAX).unwrap();
    let text = |event: OutboxEvent| (event.number, String::from_utf8(event.bytes).unwrap());
    events.into_iter().map(text).collect()
}

/// Checks that the numbers in memory are those of the tables, which a fresh start counts.
fn reopen(store: Stores, machine: &Machine) -> Stores {
    let before = store.outbox.outbox().unwrap();
    let store = machine.reopen(store);
    let after = store.outbox.outbox().unwrap();
    assert_eq!(after, OutboxState { dropped: after.dropped, ..before });
    store
}

#[test]
fn events_wait_in_order_until_they_are_told() {
    for machine in machines() {
        let store = machine.stores();
        put(&store, "nobody stored this room", &["joined"]);
        let first = Append { events: vec![b"one".to_vec()], ..append("a", vec![record(1, "1")]) };
        store.add(first).unwrap();
        let events = vec![b"part".to_vec()];
        wait(|done| store.log.save_part("a".into(), 7, part(1, "p"), None, events, done)).unwrap();
        let expected =
            [(1, "joined"), (2, "one"), (3, "part")].map(|(n, text)| (n, text.to_owned()));
        assert_eq!(waiting(&store), expected);
        assert_eq!(store.outbox.events(2, 9, 99).unwrap().len(), 2, "up to the second");
        assert_eq!(store.outbox.events(9, 1, 99).unwrap().len(), 1, "one event");
        assert_eq!(store.outbox.events(9, 9, 7).unwrap().len(), 1, "as many as have 7 bytes");
        assert_eq!(store.outbox.events(9, 9, 0).unwrap().len(), 1, "one always");
        let store = reopen(store, &machine);
        tell(&store, 2);
        tell(&store, 1);
        tell(&store, 77);
        assert_eq!(waiting(&store), expected[2..]);
        let store = reopen(store, &machine);
        tell(&store, 3);
        let store = reopen(store, &machine);
        put(&store, "a", &["next"]);
        assert_eq!(waiting(&store), [(4, "next".to_owned())], "no number is given out twice");
        assert_eq!(store.outbox.outbox().unwrap().dropped, 0);
    }
}

#[test]
fn an_append_that_is_refused_leaves_no_event() {
    for machine in machines() {
        let store = machine.stores();
        let wrong = Append { events: vec![b"no".to_vec()], ..append("a", vec![record(5, "5")]) };
        assert!(store.add(wrong).is_err());
        assert_eq!(waiting(&store), []);
        assert_eq!(reopen(store, &machine).outbox.outbox().unwrap().next, 1);
    }
}

#[test]
fn what_is_too_much_or_too_old_is_dropped() {
    for machine in machines() {
        let store = machine.stores();
        let large = "x".repeat(9_000);
        for _ in 0..30 {
            put(&store, "a", &[&large]);
        }
        store.erase_all();
        let outbox = store.outbox.outbox().unwrap();
        assert!(
            outbox.bytes <= LIMITS.max_bytes && outbox.bytes > LIMITS.max_bytes / 2,
            "{outbox:?}"
        );
        assert_eq!(outbox.waiting + outbox.dropped, 30);
        let numbers: Vec<_> = waiting(&store).into_iter().map(|(number, _)| number).collect();
        assert_eq!(
            numbers,
            (outbox.dropped + 1..=30).collect::<Vec<_>>(),
            "the oldest are dropped"
        );
        let store = reopen(store, &machine);

        machine.pass(DAY + Duration::from_secs(1));
        put(&store, "a", &["new"]);
        // A request that comes later is carried out after the next step.
        store.erase_all();
        assert_eq!(waiting(&store), [(31, "new".to_owned())]);
        machine.pass(2 * DAY);
        store.erase_all();
        store.erase_all();
        assert_eq!(waiting(&store), []);
        let store = reopen(store, &machine);
        put(&store, "a", &["after all"]);
        assert_eq!(waiting(&store), [(32, "after all".to_owned())], "no number is given out twice");
    }
}

#[test]
fn trimming_and_deletion_do_not_wait_and_a_deleted_room_leaves_nothing() {
    const MARKER: &str = "<this must not remain>";
    let machine = machine();
    let store = machine.stores();
    let events = vec![MARKER.repeat(300).into_bytes()];
    let first = Append { events, ..append("secret", vec![record(1, MARKER)]) };
    store.add(first).unwrap();
    put(&store, "other", &["kept"]);
    store.put("other", vec![record(1, "1")]).unwrap();
    put(&store, "secret", &[MARKER, MARKER]);
    assert!(machine.holds(MARKER.as_bytes()));
    store.remove("secret").unwrap();
    store.erase_all();
    assert!(!machine.holds(MARKER.as_bytes()), "the room's events remain");
    assert_eq!(waiting(&store), [(2, "kept".to_owned())]);
    assert_eq!(store.outbox.outbox().unwrap().dropped, 3);
    let store = reopen(store, &machine);
    put(&store, "other", &["next"]);
    assert_eq!(waiting(&store).last().unwrap().0, 5);

    // A record that a snapshot covers is trimmed while its event waits.
    store.save("other", part(1, "state")).unwrap();
    machine.pass(DAY / 2);
    store.save("other", part(1, "state")).unwrap();
    assert_eq!(waiting(&store).len(), 2);
}

#[test]
fn without_a_receiver_what_waited_is_dropped_and_numbers_go_on() {
    let mut machine = machine();
    let store = machine.stores();
    put(&store, "a", &["<never told>", "<neither>"]);
    drop(store);
    machine.options.outbox = None;
    let store = machine.stores();
    put(&store, "a", &["<ignored>"]);
    assert_eq!((store.outbox.outbox(), waiting(&store).len()), (None, 0));
    store.erase_all();
    assert!(!machine.holds(b"<never told>") && !machine.holds(b"<ignored>"));
    drop(store);
    machine.options.outbox = Some(LIMITS);
    let store = machine.stores();
    assert_eq!(waiting(&store), []);
    put(&store, "a", &["again"]);
    assert_eq!(waiting(&store), [(3, "again".to_owned())]);
}

#[test]
fn after_a_power_cut_at_any_write_the_outbox_has_the_events_of_the_records_that_survived() {
    let mut heads = Vec::new();
    for cut in (1..150).step_by(4) {
        let machine = machine();
        machine.disk.set_fault(Fault::PowerCut(cut));
        let mut told = 0;
        if let Ok(store) = machine.open().map(Stores::new) {
            for position in 1..=8 {
                let events = vec![position.to_string().into_bytes()];
                let next = Append { events, ..append("a", vec![record(position, "")]) };
                if store.add(next).is_err() {
                    break;
                }
                if position % 3 == 0
                    && wait(|done| store.outbox.events_told(position - 1, done)).is_ok()
                {
                    told = position - 1;
                }
            }
        }
        machine.disk.crash(cut);
        let store = machine.stores();
        let head = store.log.load("a").unwrap().map_or(0, |room| room.head);
        let outbox = store.outbox.outbox().unwrap();
        assert!(outbox.told >= told, "cut {cut}: what was told is told again");
        let expected: Vec<_> =
            (outbox.told + 1..=head).map(|number| (number, number.to_string())).collect();
        assert_eq!(waiting(&store), expected, "cut {cut}");
        heads.push(head);
    }
    assert!(heads.contains(&0) && heads.contains(&8) && heads.contains(&3), "{heads:?}");
}
