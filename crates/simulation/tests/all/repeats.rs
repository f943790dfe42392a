use std::time::Duration;

use groupwire_client::{Qos, SendOptions};

use super::{Person, bad, run, seeded, settle};

/// Three people over bad networks, of whom one is cut off for a while: all that happened, and what
/// each of them heard.
fn play(seed: u64) -> (String, Vec<Vec<String>>, Vec<u64>) {
    let simulation = seeded(seed);
    let mut people: Vec<Person> = (0..3).map(|_| Person::join(&simulation, bad())).collect();
    let pointers: Vec<_> = people
        .iter()
        .map(|person| person.room.channel("pointer", Qos::awareness()).expect("a valid QoS"))
        .collect();
    for number in 0..30 {
        people[number % 3].say(&format!("{number}"));
        let key = Some(b"at".as_slice());
        let options = SendOptions { key, ..SendOptions::default() };
        pointers[number % 3].send(&*format!("at {number}"), options).expect("a small message");
        if number == 10 {
            simulation.partition(people[1].member, Some(Duration::from_millis(700)));
        }
        run(&simulation, 37);
    }
    settle(&simulation, &people.iter().collect::<Vec<_>>());
    let heard = people.iter_mut().map(Person::heard).collect();
    let bytes = people.iter().map(|person| person.room.stats().bytes_out_after).collect();
    (simulation.log(2000), heard, bytes)
}

#[test]
fn a_run_repeats_exactly_from_its_seed() {
    for seed in 0..5 {
        assert_eq!(play(seed), play(seed), "seed {seed}");
    }
    assert_ne!(play(1).0, play(2).0);
}

#[test]
fn everybody_has_all_transactions_in_the_same_order() {
    for seed in 0..40 {
        let (log, heard, _) = play(seed);
        let transactions: Vec<Vec<&String>> = heard
            .iter()
            .map(|all| all.iter().filter(|text| !text.starts_with("at")).collect())
            .collect();
        assert_eq!(transactions[0].len(), 30, "seed {seed}\n{log}");
        assert!(transactions.iter().all(|own| *own == transactions[0]), "seed {seed}\n{log}");
        assert!(log.contains("a datagram of"), "datagrams are used, and lost");
    }
}
