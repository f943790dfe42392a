//! Schemes over the path to another machine: messages go there and come back, each hop by the
//! scheme, as from a client to the server and to a client in the AFEC paper. Both ends of a message
//! are here, so one clock serves.

use std::collections::VecDeque;
use std::io;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::{Duration, Instant};

use super::cell::Cell;
use super::contender::Contender;
use super::end::{self, Endpoint};
use super::live::{Ends, PATIENCE, TARGET, messages};
use super::plan::Way;
use super::real::{Alone, Carrier, Plain, Scheme, Transport, Wire, measure_alone};
use super::row::{Part, row};
use super::run::Log;
use super::{Options, warm_up};
use crate::far::{Access, MAX_PACKET, Near, Relay};
use crate::options::or_usual;
use crate::sim::Loss;
use crate::sim::input::Update as Message;
use crate::{Result, Row, Update};

/// The schemes that are compared unless `--scheme` names others. They run at the same time, so that
/// all meet the same network.
const CONTENDERS: [Contender; 5] =
    [Contender::Tcp, Contender::Udp, Contender::Fec(3), Contender::Afec2012, Contender::Groupwire];
/// The most schemes at a time that an agent serves.
const MOST: usize = 12;
const DEADLINE: Duration = Duration::from_millis(250);
/// The interval at which an agent checks whether it is to end.
const LOOK_UP: Duration = Duration::from_millis(50);

/// Measures the schemes over the path to an agent.
///
/// # Errors
/// The agent cannot be reached, recordings that cannot be read.
pub(crate) fn run_far(
    access: &Access,
    options: &Options,
    emit: &mut dyn FnMut(Update),
) -> Result<()> {
    let (count, input) = messages(options)?;
    let contenders = or_usual(&options.schemes, &CONTENDERS);
    if contenders.len() > MOST || contenders.contains(&Contender::BestStatic) {
        return Err(format!("at most {MOST} schemes, and not best-static").into());
    }
    let target = options.percents.first().map_or(TARGET, |percent| percent / 100.0);
    let deadline = options.ways.first().map_or(DEADLINE, |way| way.deadline);
    let cell = Way { round_trip: Duration::ZERO, deadline }.cell(&Loss::NONE, target);
    let near = Near::open(access, groupwire_tunnel::Codecs::Never)?;
    emit(Update::Progress { done: 0, total: contenders.len(), what: "the far machine".into() });
    let logs: Vec<Result<Log>> = thread::scope(|scope| {
        let run = |contender: &Contender| {
            let (near, cell, input, contender) = (&near, &cell, &input, *contender);
            scope.spawn(move || measure(near, contender, cell, input))
        };
        let runs: Vec<_> = contenders.iter().map(run).collect();
        runs.into_iter().map(|one| one.join().expect("a run does not panic")).collect()
    });
    // The shortest time of all datagrams is that of the path.
    let shortest = |log: &Log| log.messages.iter().filter_map(|(_, latency)| *latency).min();
    let datagrams = contenders.iter().zip(&logs).filter(|(one, _)| **one != Contender::Tcp);
    let round_trip = datagrams.filter_map(|(_, log)| shortest(log.as_ref().ok()?)).min();
    let cell = Cell { round_trip: round_trip.unwrap_or_default(), ..cell };
    let plain = contenders.iter().zip(&logs).find(|(one, _)| **one == Contender::Udp);
    let plain = plain.and_then(|(_, log)| log.as_ref().ok());
    let plain = plain.map(|log| log.figures(0, None).bytes_per_message);
    for (contender, log) in contenders.iter().zip(logs) {
        match log {
            Ok(log) => {
                let figures = log.figures(warm_up(count), None);
                let scheme = (Part::Grid, contender.to_string());
                let made = (&log, figures);
                let row = row(scheme, &cell, made, plain.unwrap_or(f64::NAN), &options.common);
                emit(Update::Row(as_far(row, *contender)));
            }
            Err(error) => {
                emit(Update::Skipped { what: contender.to_string(), why: error.to_string() });
            }
        }
    }
    Ok(())
}

/// A row of the path to another machine.
fn as_far(row: Row, contender: Contender) -> Row {
    let row = row.with("channel", "far").with("real", true).with("hops", 2);
    // The kernel does not tell what TCP sends.
    match contender {
        Contender::Tcp => row.with("overhead", f64::NAN).with("bytes_per_message", f64::NAN),
        _ => row,
    }
}

fn measure(near: &Near, contender: Contender, cell: &Cell, input: &[Message]) -> Result<Log> {
    let relay = Relay {
        scheme: contender.to_string(),
        deadline_ms: cell.deadline.as_millis() as u64,
        target: cell.target,
    };
    let is_tcp = contender == Contender::Tcp;
    let (control, opened) = near.relay(&relay, is_tcp)?;
    let end = match contender.scheme() {
        Some(scheme) => Ends { scheme, cell }.end(),
        None => Plain(Carrier::Tcp).end(),
    };
    let Alone { latencies, traffic } =
        measure_alone(Transport::connected(opened)?, end, input, PATIENCE)?;
    // The agent ends with the connection.
    drop(control);
    let mut log = Log::new(input, cell);
    for (message, latency) in log.messages.iter_mut().zip(latencies) {
        message.1 = latency;
    }
    log.bytes = traffic.bytes as f64;
    log.packets = traffic.packets;
    Ok(log)
}

/// The agent's end of a path: it sends each message back as soon as it has come.
pub(crate) struct End {
    /// `None`: TCP, whose packets go back as they came.
    endpoint: Option<Endpoint>,
    packets: VecDeque<Vec<u8>>,
}

impl End {
    /// The end that a near machine asks for.
    ///
    /// # Errors
    /// There is no such scheme, or the numbers make no sense.
    pub(crate) fn of(relay: &Relay) -> std::result::Result<Self, String> {
        let contender: Contender = relay.scheme.parse()?;
        let is_sound = (1..=60_000).contains(&relay.deadline_ms)
            && (0.001..=0.5).contains(&relay.target)
            && contender != Contender::BestStatic;
        if !is_sound {
            return Err("a deadline is 1 to 60,000 ms and a target 0.001 to 0.5".to_owned());
        }
        let deadline = Duration::from_millis(relay.deadline_ms);
        let way = Way { round_trip: Duration::ZERO, deadline };
        let cell = way.cell(&Loss::NONE, relay.target);
        let endpoint = contender.scheme().map(|scheme: end::Scheme| scheme.end(&cell, None));
        Ok(End { endpoint, packets: VecDeque::new() })
    }

    /// Whether it needs a connection of TCP.
    pub(crate) fn is_tcp(&self) -> bool {
        self.endpoint.is_none()
    }

    /// Sends what comes back, until `is_over`, or the socket ends, or the budget is spent.
    pub(crate) fn send_back(
        mut self,
        opened: crate::far::Opened,
        mut budget: Budget,
        is_over: impl Fn() -> bool,
    ) -> io::Result<()> {
        let (events, arrivals) = channel();
        let mut wire = Wire::start(Transport::connected(opened)?, 0, events)?;
        let clock = Instant::now();
        while !is_over() {
            let due = self.endpoint.as_ref().and_then(|end| end.timeout(clock.elapsed()));
            let wait = due.map_or(LOOK_UP, |due| due.saturating_sub(clock.elapsed()).min(LOOK_UP));
            match arrivals.recv_timeout(wait) {
                Ok(arrival) if arrival.packet.len() > MAX_PACKET => {
                    return Err(io::Error::other("a packet is too large"));
                }
                Ok(arrival) => self.receive(clock.elapsed(), arrival.packet),
                Err(RecvTimeoutError::Timeout) => {}
                // The near machine has closed its socket.
                Err(RecvTimeoutError::Disconnected) => return Ok(()),
            }
            while let Some(packet) = self.poll(clock.elapsed()) {
                if !budget.spend(clock.elapsed()) {
                    return Err(io::Error::other("the near machine asks for too many packets"));
                }
                wire.send(&packet)?;
            }
        }
        Ok(())
    }

    fn receive(&mut self, now: Duration, packet: Vec<u8>) {
        let Some(endpoint) = &mut self.endpoint else {
            self.packets.push_back(packet);
            return;
        };
        let mut came = Vec::new();
        // A packet that is none, such as a second ticket, changes nothing.
        let _ = endpoint.receive(now, &packet, |age, payload| came.push((age, payload.to_vec())));
        for (age, payload) in came {
            endpoint.send(now, age, &payload);
        }
    }

    /// The next packet to be sent.
    fn poll(&mut self, now: Duration) -> Option<Vec<u8>> {
        let Some(endpoint) = &mut self.endpoint else { return self.packets.pop_front() };
        endpoint.expire(now);
        let mut packet = Vec::new();
        endpoint.transmit(now, &mut packet).map(|_| packet)
    }
}

/// The limit of the packets that an agent sends: a rate, of which the packets of two seconds may be
/// sent at once.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Budget {
    per_second: f64,
    left: f64,
    last: Duration,
}

impl Budget {
    pub(crate) fn new(per_second: u32) -> Self {
        let per_second = f64::from(per_second);
        Budget { per_second, left: 2.0 * per_second, last: Duration::ZERO }
    }

    /// Whether another packet may be sent now.
    fn spend(&mut self, now: Duration) -> bool {
        let earned = now.saturating_sub(self.last).as_secs_f64() * self.per_second;
        self.last = now;
        self.left = (self.left + earned).min(2.0 * self.per_second) - 1.0;
        self.left >= 0.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_go_back_by_every_scheme() {
        for scheme in ["tcp", "udp", "fec-3", "afec-2012", "groupwire"] {
            let relay = Relay { scheme: scheme.to_owned(), deadline_ms: 250, target: 0.05 };
            let (mut far, mut near) = (End::of(&relay).unwrap(), End::of(&relay).unwrap());
            let now = Duration::from_millis(10);
            let mut message = Vec::new();
            crate::sim::input::write_payload(0, 20, &mut message);
            let packet = match &mut near.endpoint {
                None => message.clone(),
                Some(endpoint) => {
                    endpoint.send(now, Duration::ZERO, &message);
                    near.poll(now).unwrap()
                }
            };
            far.receive(now, packet);
            let back = far.poll(now).unwrap();
            let mut came = Vec::new();
            match &mut near.endpoint {
                None => came.push(back),
                Some(endpoint) => {
                    endpoint.receive(now, &back, |_, payload| came.push(payload.to_vec())).unwrap()
                }
            }
            assert_eq!(came, [message], "{scheme}");
        }
    }

    #[test]
    fn a_near_machine_cannot_ask_for_anything() {
        let relay = |scheme: &str, deadline_ms, target| {
            End::of(&Relay { scheme: scheme.to_owned(), deadline_ms, target })
        };
        for wrong in [
            relay("best-static", 250, 0.05),
            relay("smoke", 250, 0.05),
            relay("udp", 0, 0.05),
            relay("udp", 250, f64::NAN),
            relay("udp", 250, 0.9),
        ] {
            assert!(wrong.is_err());
        }
    }

    #[test]
    fn what_comes_from_strangers_is_ignored() {
        let relay = Relay { scheme: "groupwire".to_owned(), deadline_ms: 250, target: 0.05 };
        let mut far = End::of(&relay).unwrap();
        for packet in [vec![], vec![0; 16], vec![255; MAX_PACKET]] {
            far.receive(Duration::ZERO, packet);
        }
        let back = far.poll(Duration::from_millis(1));
        assert!(back.is_none_or(|packet| packet.len() < 64));
    }

    #[test]
    fn a_budget_is_spent_and_earned_again() {
        let mut budget = Budget::new(10);
        let spent = (0..30).take_while(|_| budget.spend(Duration::ZERO)).count();
        assert_eq!(spent, 20);
        assert!(budget.spend(Duration::from_secs(1)));
    }
}
