//! Rooms of this crate in simulated time.

mod confirmations;

use std::time::Duration;

use groupwire_ffi::{ChannelOptions, Event, Options, Qos, Room};
use groupwire_simulation::{Join, Simulation, SimulationOptions};

/// A participant of a simulated room, with an open channel.
fn join(simulation: &Simulation) -> (Room, u32) {
    let (world, _) = simulation.world(Join::default(), "room");
    let told = simulation.interrupter();
    let room = Room::connect_within(world, told, Options::new("room"), simulation.random())
        .expect("valid options");
    let chat =
        room.channel("chat", Qos::transaction(), &ChannelOptions::default()).expect("a valid QoS");
    (room, chat)
}

fn simulation() -> Simulation {
    Simulation::new(SimulationOptions { seed: 1, ..SimulationOptions::default() })
}

/// Goes on by some simulated seconds, without a poll.
fn run(simulation: &Simulation, seconds: u64) {
    let until = simulation.now() + Duration::from_secs(seconds);
    while simulation.now() < until {
        simulation.advance(Some(until)).expect("time goes on");
    }
}

/// Takes all events.
fn take(room: &Room) -> Vec<Event> {
    std::iter::from_fn(|| room.poll().expect("the same process")).collect()
}
