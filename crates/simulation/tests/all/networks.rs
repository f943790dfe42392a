use std::time::Duration;

use groupwire_client::Status;
use groupwire_simulation::{Conditions, Direction, Join};

use super::{Person, over, run, seeded, settle};

#[test]
fn what_is_sent_during_a_partition_arrives_after_it() {
    let simulation = seeded(1);
    let [ada, mut bo] = [0; 2].map(|_| Person::join(&simulation, Join::default()));
    settle(&simulation, &[&ada, &bo]);
    simulation.partition(ada.member, None);
    ada.say("kept");
    // This does not wait for a participant that is cut off without an end.
    settle(&simulation, &[&bo]);
    assert_eq!((bo.heard().len(), ada.room.pending()), (0, 1));
    simulation.heal(ada.member);
    settle(&simulation, &[&ada, &bo]);
    assert_eq!((bo.heard(), ada.room.pending()), (vec!["kept".to_owned()], 0));
}

#[test]
fn a_broken_connection_is_opened_again() {
    let simulation = seeded(1);
    let mut ada = Person::join(&simulation, Join::default());
    settle(&simulation, &[&ada]);
    ada.news();
    simulation.break_connection(ada.member);
    settle(&simulation, &[&ada]);
    let news = ada.news();
    for status in [Status::Reconnecting, Status::Connected] {
        assert!(news.contains(&groupwire_client::Event::Status(status)), "{status:?}");
    }
}

#[test]
fn a_delay_is_that_of_the_network() {
    let simulation = seeded(1);
    let slow = Direction { delay: Some(Duration::from_millis(300)), ..Direction::default() };
    let ada = Person::join(&simulation, over(slow));
    settle(&simulation, &[&ada]);
    assert!(ada.room.round_trip().unwrap() >= Duration::from_millis(600));
    let fast = Direction { delay: Some(Duration::from_millis(5)), ..Direction::default() };
    simulation.change(ada.member, &Conditions { both: fast, ..Conditions::default() });
    ada.say("x");
    let (before, limit) = (simulation.now(), Duration::from_millis(300));
    while ada.room.pending() > 0 {
        run(&simulation, 1);
        assert!(simulation.now() - before < limit, "the answer takes the new delay and a tick");
    }
}

#[test]
fn a_slow_link_takes_its_time() {
    let simulation = seeded(1);
    let up = Direction { rate: Some(1000.0), ..Direction::default() };
    let join = Join { conditions: Conditions { up, ..Default::default() }, ..Join::default() };
    let ada = Person::join(&simulation, join);
    settle(&simulation, &[&ada]);
    let noise: String =
        (0u64..2000).map(|at| char::from(33 + (at * at * 7919 % 89) as u8)).collect();
    ada.say(&noise);
    let sent = ada.room.stats().bytes_out_after;
    let before = simulation.now();
    while ada.room.pending() > 0 {
        run(&simulation, 10);
    }
    let bytes = ada.room.stats().bytes_out_after - sent;
    let least = Duration::from_millis(bytes.saturating_sub(100));
    assert!(simulation.now() - before >= least, "{bytes} bytes at 1000 a second");
}

#[test]
fn without_datagrams_all_goes_over_the_stream() {
    let simulation = seeded(1);
    let join = || Join { without_datagrams: true, ..Join::default() };
    let [ada, mut bo] = [0; 2].map(|_| Person::join(&simulation, join()));
    ada.say("hello");
    settle(&simulation, &[&ada, &bo]);
    assert_eq!(bo.heard(), ["hello"]);
    assert_eq!(bo.room.framing().datagrams_in, 0);
}
