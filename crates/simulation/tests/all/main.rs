//! Rooms in simulated time.

mod networks;
mod people;
mod repeats;
mod servers;
mod time;

use std::collections::VecDeque;
use std::time::Duration;

use groupwire_client::{Channel, Event, Events, Options, Qos, Room, SendOptions};
use groupwire_simulation::{Conditions, Direction, Join, Member, Simulation, SimulationOptions};

/// Longer than any timer that a room runs after the last message.
const QUIET: Duration = Duration::from_secs(3);

/// A participant of a test.
struct Person {
    room: Room,
    member: Member,
    chat: Channel,
    events: Events,
    batch: VecDeque<Event>,
}

impl Person {
    fn join(simulation: &Simulation, join: Join) -> Person {
        Person::with(simulation, join, Options::new("room"))
    }

    fn with(simulation: &Simulation, join: Join, options: Options) -> Person {
        let (room, events, member) = simulation.join(join, options).expect("valid options");
        let chat = room.channel("chat", Qos::transaction()).expect("a valid QoS");
        Person { room, member, chat, events, batch: VecDeque::new() }
    }

    fn say(&self, text: &str) {
        self.chat.send(text, SendOptions::default()).expect("a small message");
    }

    /// The events that were not taken yet.
    fn news(&mut self) -> Vec<Event> {
        self.events.take_batch(&mut self.batch);
        self.batch.drain(..).collect()
    }

    /// The messages among the events that were not taken yet.
    fn heard(&mut self) -> Vec<String> {
        let text = |event| match event {
            Event::Message(message) => Some(String::from_utf8_lossy(&message.bytes).into_owned()),
            _ => None,
        };
        self.news().into_iter().filter_map(text).collect()
    }
}

fn seeded(seed: u64) -> Simulation {
    Simulation::new(SimulationOptions { seed, ..SimulationOptions::default() })
}

fn over(both: Direction) -> Join {
    Join { conditions: Conditions { both, ..Conditions::default() }, ..Join::default() }
}

/// A network that loses a fifth of the packets and reorders the others.
fn bad() -> Join {
    let jitter = Some(Duration::from_millis(40));
    over(Direction { jitter, loss: Some(0.2), ..Direction::default() })
}

fn settle(simulation: &Simulation, people: &[&Person]) {
    let rooms: Vec<&Room> = people.iter().map(|person| &person.room).collect();
    let settled = simulation.block_on(simulation.settle(&rooms, QUIET));
    settled.expect("time goes on").expect("the network is not that bad");
}

fn run(simulation: &Simulation, ms: u64) {
    let until = simulation.now() + Duration::from_millis(ms);
    simulation.advance(Some(until)).expect("time goes on");
}
