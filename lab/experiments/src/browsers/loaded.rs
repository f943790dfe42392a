//! One participant alone with another beside the server: what joining and a message cost, and how
//! fast messages go.

use std::time::{Duration, Instant};

use super::cell::{Cell, LOADED, PATIENCE, call};
use super::plan::{POINTER, Plan, SIZES, STANDARD};
use super::protocol::{Command, Receive, Received, Reply, Send, Stage, StageError};
use super::rate::rate;
use super::row::{Direction, Measure, Part, with_papers};
use super::trials::System;
use super::{BARE, Network, SOCKET};
use crate::emulator::PathStats;
use crate::statistics::Summary;
use crate::{Result, Row};

/// The pause after joining and after messages, for delayed acknowledgements and a first ping to
/// arrive.
const SETTLING: Duration = Duration::from_millis(150);

/// The interval of messages of 500 bytes on an uplink of 64 kbit/s, each with an HTTP request of 1
/// KB at most.
const NARROW_APART_MS: f64 = 200.0;

/// The count of a load of values that replace each other: more than any duration allows.
const WITHOUT_END: u32 = u32::MAX;

/// Measures one participant whose room has only one other member, a native one beside the server.
pub(super) struct Loaded<'a, 'b> {
    pub(super) cell: &'a mut Cell<'b>,
    pub(super) stage: &'a mut dyn Stage,
    pub(super) beside: &'a mut dyn Stage,
    pub(super) plan: &'a Plan,
    pub(super) yields: &'a mut dyn FnMut(Row),
}

impl Loaded<'_, '_> {
    /// Measures all that the plan wants. Returns how many members the page has joined.
    pub(super) fn measure(&mut self) -> Result<usize> {
        if self.cell.network == Network::Far {
            // Nobody is beside a server on another machine, to send to it or to count.
            return self.numbered(&[System::Bare]).map(|()| 0);
        }
        self.connect()?;
        self.overheads()?;
        match self.plan.part {
            Part::Today => {
                self.receive_rates()?;
                self.send_rates()?;
            }
            Part::Paper => self.numbered(&[System::Groupwire, System::Bare])?,
        }
        Ok(1)
    }

    fn connect(&mut self) -> Result<()> {
        let before = self.stats();
        let ms = self.cell.join(self.stage, BARE, "load", LOADED..LOADED + 1)?;
        std::thread::sleep(SETTLING);
        if let Some((content, wire)) =
            self.since(before).filter(|_| self.plan.wants(Measure::OverheadConnection))
        {
            let row = self.cell.row(Measure::OverheadConnection);
            let joined_ms = ms.first().copied();
            let row = row.with("value", sum(content)).with("wire_bytes", sum(wire));
            self.emit(row.with("joined_ms", joined_ms));
        }
        let port = self.cell.place.ports.servers[BARE].socket;
        let join = Command::Join {
            transport: SOCKET.to_owned(),
            room: format!("load {} {}", self.cell.transport, self.cell.network),
            servers: vec![format!("tcp://127.0.0.1:{port}")],
        };
        call(self.beside, join, 0.0)?;
        Ok(())
    }

    fn overheads(&mut self) -> Result<()> {
        if !self.plan.wants(Measure::OverheadMessage) || self.stats().is_none() {
            return Ok(());
        }
        // Messages are sent one by one, so that a narrow line has transferred each before the next.
        let slower = if self.cell.network.narrow().is_some() { NARROW_APART_MS } else { 0.0 };
        let (count, every_ms) = (self.plan.overheads, self.plan.apart_ms.max(slower));
        for direction in [Direction::Up, Direction::Down] {
            let send = self.load(STANDARD, count, every_ms, false);
            let (before, ms) = (self.stats(), send.ms);
            let mut received = self.transfer(direction, send, ms)?;
            if !received.complete {
                received.wrong.get_or_insert_with(|| format!("not all came within {ms} ms"));
            }
            std::thread::sleep(SETTLING);
            let Some((content, wire)) = self.since(before) else { continue };
            let payload = f64::from(count) * STANDARD as f64;
            let [up, down] = content;
            let way = if direction == Direction::Up { up } else { down };
            let per_message = |bytes: f64| (bytes - payload) / f64::from(count);
            let row = self.loaded(Measure::OverheadMessage, direction, STANDARD, &received);
            let row = row.with("value", per_message(way));
            self.emit(row.with("wire_bytes", per_message(sum(wire))));
        }
        Ok(())
    }

    fn receive_rates(&mut self) -> Result<()> {
        if !self.plan.wants(Measure::ReceiveRate) {
            return Ok(());
        }
        for size in SIZES {
            self.distinct(Measure::ReceiveRate, Direction::Down, size)?;
        }
        Ok(())
    }

    fn send_rates(&mut self) -> Result<()> {
        if !self.plan.wants(Measure::SendRate) {
            return Ok(());
        }
        let count = self.plan.messages_up(self.cell.network, STANDARD);
        let mut rates = Vec::new();
        let mut all = Received { complete: true, ..Received::default() };
        for _ in 0..self.plan.trials {
            let send = self.load(STANDARD, count, 0.0, false);
            let ms = self.plan.sending_ms;
            let (received, took) = self.timed_transfer(Direction::Up, send, ms)?;
            rates.push(f64::from(received.messages) * 1e3 / took);
            let is_whole = received.complete;
            add(&mut all, received);
            if !is_whole {
                all.wrong.get_or_insert_with(|| format!("not all came within {ms} ms"));
                break;
            }
        }
        let row = self.loaded(Measure::SendRate, Direction::Up, STANDARD, &all);
        self.emit(rated(row, &rates));
        // This measurement comes last, because it fills the connection's send queue, which a narrow
        // line takes seconds to send.
        self.distinct(Measure::SendRate, Direction::Up, POINTER)
    }

    /// Measures the distinct arrivals of a value that changes all the time.
    fn distinct(&mut self, measure: Measure, direction: Direction, size: usize) -> Result<()> {
        let (mut rates, mut all) = (Vec::new(), Received::default());
        for _ in 0..self.plan.trials {
            let ms = self.plan.receiving_ms + self.cell.path_ms;
            let send = Send { ms, ..self.load(size, WITHOUT_END, 0.0, true) };
            let received = self.transfer(direction, send, ms)?;
            rates.push(rate(received.arrivals, received.span_ms, ms));
            add(&mut all, received);
        }
        // Messages that arrive together count as one arrival.
        let per_arrival = f64::from(all.messages) / f64::from(all.arrivals.max(1));
        let row = rated(self.loaded(measure, direction, size, &all), &rates);
        let value = row.number("value").unwrap_or_default();
        self.emit(row.with("messages_per_second", value * per_arrival));
        Ok(())
    }

    pub(super) fn load(&mut self, size: usize, count: u32, every_ms: f64, latest: bool) -> Send {
        self.cell.runs += 1;
        let ms = f64::from(count) * every_ms + self.plan.sending_ms;
        Send { member: 0, run: self.cell.runs, count, size, every_ms, latest, ms }
    }

    /// Sends a load in one direction and counts received messages for at most `ms` and a round
    /// trip.
    fn transfer(&mut self, direction: Direction, send: Send, ms: f64) -> Result<Received> {
        self.timed_transfer(direction, send, ms).map(|(received, _)| received)
    }

    /// Like `transfer`, and returns its duration in ms, too.
    pub(super) fn timed_transfer(
        &mut self,
        direction: Direction,
        send: Send,
        ms: f64,
    ) -> Result<(Received, f64)> {
        let beyond = if send.latest { 0.0 } else { 2.0 * self.cell.path_ms + 1000.0 };
        let receive = Receive {
            member: 0,
            run: send.run,
            size: send.size,
            latest: send.latest,
            ms: ms + beyond,
        };
        let (sender, receiver) = match direction {
            Direction::Up => (&mut *self.stage, &mut *self.beside),
            Direction::Down => (&mut *self.beside, &mut *self.stage),
        };
        call(receiver, Command::Expect(receive.clone()), 0.0)?;
        let start = Instant::now();
        receiver.start(Command::Receive(receive))?;
        let sent = call(sender, Command::Send(send), ms);
        let received = receiver.finish(PATIENCE + Duration::from_secs_f64((ms + beyond) / 1e3))?;
        let took = start.elapsed().as_secs_f64() * 1e3;
        sent?;
        match received {
            Reply::Receive(received) => Ok((received, took)),
            _ => Err(StageError::Confused.into()),
        }
    }

    pub(super) fn loaded(
        &self,
        measure: Measure,
        direction: Direction,
        size: usize,
        all: &Received,
    ) -> Row {
        self.cell
            .row(measure)
            .with("size", size)
            .with("direction", direction)
            .with("messages", all.messages)
            .failed(all.wrong.as_ref())
    }

    pub(super) fn emit(&mut self, row: Row) {
        (self.yields)(with_papers(row));
    }

    fn stats(&self) -> Option<PathStats> {
        self.cell.paths.stats(LOADED)
    }

    /// The bytes carried since `before`, up and down: above TCP or UDP, and on the wire.
    fn since(&self, before: Option<PathStats>) -> Option<([f64; 2], [f64; 2])> {
        let (before, after) = (before?, self.stats()?);
        let content =
            [after.up_content - before.up_content, after.down_content - before.down_content];
        let wire = [after.up.bytes - before.up.bytes, after.down.bytes - before.down.bytes];
        Some((content.map(|bytes| bytes as f64), wire.map(|bytes| bytes as f64)))
    }
}

fn sum(both: [f64; 2]) -> f64 {
    both.iter().sum()
}

pub(super) fn add(all: &mut Received, one: Received) {
    all.messages += one.messages;
    all.arrivals += one.arrivals;
    all.span_ms += one.span_ms;
    all.complete &= one.complete;
    all.wrong = all.wrong.take().or(one.wrong);
}

pub(super) fn rated(row: Row, rates: &[f64]) -> Row {
    let summary = Summary::of(rates);
    let squares = rates.iter().map(|rate| (rate - summary.mean).powi(2)).sum::<f64>();
    let count = rates.len() as f64;
    let deviation = (count > 1.0).then(|| (squares / (count - 1.0)).sqrt());
    row.with("value", summary.mean)
        .with("deviation", deviation)
        .with("standard_error", deviation.map(|one| one / count.sqrt()))
        .with("trials", rates.len())
}
