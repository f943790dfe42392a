//! A server that cannot take a client in now answers its opening by a goodbye with a time (W36).

use std::time::Duration;

use groupwire_session::client::{Client, Config, Event, Input, Output, Status};
use groupwire_session::goodbye;

const MS: Duration = Duration::from_millis(1);
/// The longest time that a client adds to the stated one.
const SPREAD: Duration = Duration::from_millis(250);

/// A client with its clock.
struct Caller {
    client: Client,
    now: Duration,
}

impl Caller {
    fn new(seed: u64) -> Self {
        let client = Client::new(Duration::ZERO, Config { seed, ..Config::new("demo") }).unwrap();
        Caller { client, now: Duration::ZERO }
    }

    /// Runs until the client dials. Returns the time.
    fn dials(&mut self) -> Duration {
        loop {
            match self.client.poll_output(self.now) {
                Output::Dial => return self.now,
                Output::Timeout(at) => self.now = at.expect("it wants to come back"),
                Output::Event(Event::Error { error, .. }) => panic!("{error}"),
                _ => {}
            }
        }
    }

    /// Opens the transport, gets BYE with this waiting time, and closes the transport.
    fn is_told(&mut self, retry: Duration) {
        self.client.handle_input(self.now, Input::Opened { max_datagram: 0 });
        while !matches!(self.client.poll_output(self.now), Output::Timeout(_)) {}
        self.client.handle_input(self.now, Input::Packet(&goodbye(retry)));
        let mut outputs = Vec::new();
        loop {
            match self.client.poll_output(self.now) {
                Output::Timeout(_) => break,
                output => outputs.push(output),
            }
        }
        assert!(outputs.iter().any(|output| matches!(output, Output::Hangup)), "{outputs:?}");
        self.client.handle_input(self.now, Input::Closed);
    }
}

#[test]
fn w36_a_client_that_is_told_to_come_back_keeps_the_time_however_often_it_is_told() {
    let mut waits = Vec::new();
    for seed in 0..200 {
        let mut caller = Caller::new(seed);
        caller.dials();
        for retry in [1000, 1500, 30_000, 2000].map(|ms| ms * MS) {
            caller.is_told(retry);
            let told = caller.now;
            waits.push(caller.dials() - told - retry);
        }
        // The application gives a hint that the network is back: the client still dials no earlier.
        caller.is_told(5000 * MS);
        caller.client.handle_input(caller.now, Input::Hurry);
        let told = caller.now;
        assert_eq!(caller.dials() - told, 5000 * MS);
    }
    waits.sort();
    assert!(waits[799] < SPREAD && waits[799] > SPREAD * 9 / 10, "{:?}", waits[799]);
    assert!(waits[0] < SPREAD / 10 && waits[400] > SPREAD / 3, "{:?}", waits[400]);
}

#[test]
fn w37_without_a_stated_time_waits_grow_as_after_any_break() {
    let longest = |times| {
        let last = |seed| {
            let mut caller = Caller::new(seed);
            let mut wait = caller.dials();
            for _ in 0..times {
                let told = caller.now;
                caller.is_told(Duration::ZERO);
                wait = caller.dials() - told;
            }
            wait
        };
        (0..200).map(last).max().unwrap()
    };
    assert!(longest(1) < SPREAD);
    assert!(longest(4) > 1500 * MS && longest(4) < 2000 * MS, "{:?}", longest(4));
}

#[test]
fn w36_a_client_that_waits_for_its_time_says_that_it_connects() {
    let mut caller = Caller::new(7);
    caller.dials();
    caller.client.handle_input(caller.now, Input::Opened { max_datagram: 0 });
    while !matches!(caller.client.poll_output(caller.now), Output::Timeout(_)) {}
    caller.client.handle_input(caller.now, Input::Packet(&goodbye(1000 * MS)));
    caller.client.handle_input(caller.now, Input::Closed);
    let mut statuses = Vec::new();
    loop {
        match caller.client.poll_output(caller.now) {
            Output::Timeout(_) => break,
            Output::Event(Event::Status(status)) => statuses.push(status),
            _ => {}
        }
    }
    assert_eq!(statuses, [Status::Connecting]);
}
