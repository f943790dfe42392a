use std::time::Duration;

use groupwire_client::{Durability, Event, GapReason};
use groupwire_simulation::{Join, Restart, Settings, Simulation, SimulationOptions};

use super::{Person, run, seeded, settle};

fn stored(seed: u64) -> Simulation {
    let settings = Settings { durability: Durability::Local, ..Settings::default() };
    Simulation::new(SimulationOptions { seed, settings, ..SimulationOptions::default() })
}

#[test]
fn a_stored_room_survives_a_kill_with_all_that_was_confirmed() {
    for seed in 0..20 {
        let simulation = stored(seed);
        let [ada, bo] = [0; 2].map(|_| Person::join(&simulation, Join::default()));
        for number in 0..10 {
            ada.say(&format!("{number}"));
            run(&simulation, 7);
        }
        let down_for = Duration::from_millis(100);
        simulation.restart_server(Restart { down_for, ..Restart::default() });
        settle(&simulation, &[&ada, &bo]);
        let mut late = Person::join(&simulation, Join::default());
        settle(&simulation, &[&ada, &bo, &late]);
        let expected: Vec<String> = (0..10).map(|number| number.to_string()).collect();
        assert_eq!(late.heard(), expected, "seed {seed}\n{}", simulation.log(100));
    }
}

#[test]
fn a_room_in_memory_begins_anew_after_a_kill() {
    let simulation = seeded(1);
    let mut ada = Person::join(&simulation, Join::default());
    ada.say("lost");
    settle(&simulation, &[&ada]);
    ada.news();
    simulation.restart_server(Restart::default());
    settle(&simulation, &[&ada]);
    let is_gap = |event: &Event| matches!(event, Event::Gap { reason: GapReason::Incarnation, .. });
    assert!(ada.news().iter().any(is_gap), "{}", simulation.log(100));
}

#[test]
fn a_goodbye_stores_everything() {
    let simulation = stored(3);
    let ada = Person::join(&simulation, Join::default());
    settle(&simulation, &[&ada]);
    ada.say("stored");
    run(&simulation, 50);
    simulation.restart_server(Restart { goodbye: true, ..Restart::default() });
    settle(&simulation, &[&ada]);
    let mut late = Person::join(&simulation, Join::default());
    settle(&simulation, &[&late]);
    assert_eq!(late.heard(), ["stored"]);
}

#[test]
fn a_store_that_is_lost_is_noticed() {
    let simulation = stored(1);
    let ada = Person::join(&simulation, Join::default());
    ada.say("lost");
    settle(&simulation, &[&ada]);
    simulation.restart_server(Restart { keeps_state: false, ..Restart::default() });
    settle(&simulation, &[&ada]);
    let mut late = Person::join(&simulation, Join::default());
    settle(&simulation, &[&late]);
    assert!(late.heard().is_empty());
}
