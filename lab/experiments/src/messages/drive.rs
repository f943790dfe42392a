//! One run: all messages of a trace through one technique over one link.

use std::rc::Rc;
use std::time::{Duration, Instant};

use groupwire_papers::gmc2006::Overhead;

use super::technique::{Decoded, Failure, Message, Packet, State, Technique};
use crate::link::{Link, LinkConfig};

/// A technique may refuse one in this number of the packets that others overtook, because they came
/// too late.
const TOO_LATE_IN: usize = 20;

/// How the packets of a run travel. Time is counted in the unit of [`Path::sent_at`].
pub(super) struct Path<'a> {
    pub(super) messages_per_packet: usize,
    /// The time at which each message is sent. Never falls.
    pub(super) sent_at: &'a dyn Fn(usize) -> u64,
    /// The link from the sender to the receiver.
    pub(super) forward: LinkConfig,
    /// The link of acknowledgements.
    pub(super) back: LinkConfig,
    pub(super) seed: u64,
}

/// The sizes, times and counts of a run.
#[derive(Debug, Default)]
pub(super) struct Outcome {
    pub(super) packets: usize,
    pub(super) messages_arrived: usize,
    pub(super) messages_refused: usize,
    pub(super) bytes_out: u64,
    pub(super) announcement_bytes: u64,
    pub(super) ack_bytes: u64,
    pub(super) encode_us: f64,
    pub(super) encode_p99_us: f64,
    pub(super) decode_us: f64,
    pub(super) state: State,
    pub(super) templates: Option<usize>,
    pub(super) snapshot_bytes: Option<u64>,
    /// The bytes of each packet, with the announcements in front of it.
    pub(super) packet_bytes: Vec<usize>,
    pub(super) overhead: Option<Overhead>,
    pub(super) target_percent: Option<f64>,
    /// The first message that arrived and did not decode to what was sent.
    pub(super) failure: Option<String>,
}

/// Sends everything and checks every message that arrives.
///
/// # Errors
/// The technique cannot encode a message.
pub(super) fn run(
    technique: &mut dyn Technique,
    messages: &[Message<'_>],
    path: &Path<'_>,
) -> Result<Outcome, Failure> {
    let chunks: Vec<_> = messages.chunks(path.messages_per_packet).collect();
    let mut run = Run {
        technique,
        forward: Link::new(path.forward, path.seed),
        // Both directions fail independently, so their seeds differ.
        back: Link::new(path.back, !path.seed),
        arrived: vec![false; chunks.len()],
        newest: 0,
        overtaken: 0,
        too_late: 0,
        decoded: Decoded::default(),
        decode_time: Duration::ZERO,
        acknowledged_time: Duration::ZERO,
        outcome: Outcome { packets: chunks.len(), ..Outcome::default() },
        chunks,
    };
    let mut encode_us = Vec::with_capacity(run.chunks.len());
    let mut last = 0;
    for number in 0..run.chunks.len() {
        last += run.chunks[number].len();
        let now = (path.sent_at)(last - 1);
        run.deliver(now);
        encode_us.push(run.send(now, number)?);
        run.deliver(now);
    }
    run.deliver(u64::MAX);
    run.check_too_late();

    let mut outcome = run.outcome;
    outcome.announcement_bytes += run.technique.announced();
    outcome.state = run.technique.state();
    outcome.templates = run.technique.templates();
    outcome.overhead = run.technique.overhead();
    outcome.target_percent = run.technique.target_percent();
    outcome.snapshot_bytes = run.technique.snapshot_bytes();
    let encode_time: f64 =
        encode_us.iter().zip(&run.chunks).map(|(us, chunk)| us * chunk.len() as f64).sum();
    outcome.encode_us = encode_time / messages.len().max(1) as f64;
    outcome.decode_us = micros(run.decode_time) / outcome.messages_arrived.max(1) as f64;
    outcome.encode_p99_us = percentile_99(&mut encode_us);
    Ok(outcome)
}

struct Run<'a> {
    technique: &'a mut dyn Technique,
    forward: Link<(usize, Rc<Packet>)>,
    back: Link<Rc<[u8]>>,
    /// The messages of each packet.
    chunks: Vec<&'a [Message<'a>]>,
    /// Which packets arrived.
    arrived: Vec<bool>,
    /// The number of the newest packet that arrived.
    newest: usize,
    /// The packets that arrived after a newer one.
    overtaken: usize,
    /// Overtaken packets that the technique refused because they came too late.
    too_late: usize,
    decoded: Decoded,
    decode_time: Duration,
    /// The time that acknowledgements cost the sender since its last packet.
    acknowledged_time: Duration,
    outcome: Outcome,
}

impl Run<'_> {
    /// Encodes a packet and sends it. Returns µs per message.
    fn send(&mut self, now: u64, number: usize) -> Result<f64, Failure> {
        let messages = self.chunks[number];
        let mut packet = Packet::default();
        let start = Instant::now();
        self.technique.encode(messages, &mut packet)?;
        let took = start.elapsed() + std::mem::take(&mut self.acknowledged_time);
        self.outcome.announcement_bytes += packet.announcements.len() as u64;
        let bytes = packet.bytes();
        self.outcome.packet_bytes.push(bytes);
        self.outcome.bytes_out += bytes as u64;
        self.forward.send(now, (number, Rc::new(packet)));
        Ok(micros(took) / messages.len() as f64)
    }

    /// Delivers all packets and acknowledgements that are due, in order of time.
    fn deliver(&mut self, now: u64) {
        loop {
            let due = [self.forward.due(), self.back.due()].into_iter().flatten().min();
            let Some(due) = due.filter(|due| *due <= now) else { return };
            if let Some((number, packet)) = self.forward.receive(due) {
                self.receive(due, number, &packet);
            } else if let Some(bytes) = self.back.receive(due) {
                let start = Instant::now();
                let result = self.technique.acknowledged(&bytes);
                self.acknowledged_time += start.elapsed();
                if let Err(error) = result {
                    self.fail(|| format!("an acknowledgement: {error}"));
                }
            }
        }
    }

    fn receive(&mut self, now: u64, number: usize, packet: &Packet) {
        self.decoded.clear();
        let mut acknowledgement = Vec::new();
        let start = Instant::now();
        let result = self.technique.decode(packet, &mut self.decoded);
        self.technique.acknowledge(&mut acknowledgement);
        self.decode_time += start.elapsed();
        let is_duplicate = std::mem::replace(&mut self.arrived[number], true);
        let is_overtaken = !is_duplicate && number < self.newest;
        let is_too_late =
            is_overtaken && matches!(&result, Err(error) if self.technique.is_too_late(error));
        self.newest = self.newest.max(number);
        self.overtaken += usize::from(is_overtaken);
        self.too_late += usize::from(is_too_late);
        // What the sender is charged for is what the receiver needed.
        let (came, counted) = (packet.bytes(), self.outcome.packet_bytes[number]);
        if came != counted {
            self.fail(|| format!("packet {}: {came} bytes came, {counted} count", number + 1));
        }
        if !is_duplicate {
            let messages = self.chunks[number].len();
            self.outcome.messages_arrived += messages;
            self.outcome.messages_refused += if result.is_err() { messages } else { 0 };
        }
        // A technique may refuse a packet that came before, but not decode it to something else.
        if !(is_too_late || is_duplicate && result.is_err()) {
            self.check(number, result);
        }
        if !acknowledgement.is_empty() {
            self.outcome.ack_bytes += acknowledgement.len() as u64;
            self.back.send(now, acknowledgement.into());
        }
    }

    fn check(&mut self, number: usize, result: Result<(), Failure>) {
        let why = match result {
            Err(error) => error.to_string(),
            Ok(()) if !self.decoded.is(self.chunks[number]) => {
                "it decoded to something else".to_owned()
            }
            Ok(()) => return,
        };
        self.fail(|| format!("packet {}: {why}", number + 1));
    }

    /// Checks that few packets came too late.
    fn check_too_late(&mut self) {
        let Run { too_late, overtaken, .. } = *self;
        if too_late > (overtaken / TOO_LATE_IN).max(1) {
            self.fail(|| format!("{too_late} of {overtaken} overtaken packets came too late"));
        }
    }

    /// Keeps the first failure.
    fn fail(&mut self, what: impl FnOnce() -> String) {
        self.outcome.failure.get_or_insert_with(what);
    }
}

fn micros(time: Duration) -> f64 {
    time.as_secs_f64() * 1e6
}

fn percentile_99(values: &mut [f64]) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() * 99 / 100).copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    /// Sends messages uncompressed and acknowledges each packet with a byte; corrupts or refuses
    /// packets if told to.
    #[derive(Default)]
    struct Plain {
        spoil_nth: Option<usize>,
        /// Refuses a packet as too late if this is true of its number and of the newest number that
        /// arrived.
        refuse: Option<Box<dyn Fn(usize, usize) -> bool>>,
        newest: usize,
        decoded: usize,
        acknowledged: Vec<usize>,
        encoded: usize,
    }

    impl Technique for Plain {
        fn encode(&mut self, messages: &[Message<'_>], packet: &mut Packet) -> Result<(), Failure> {
            self.encoded += 1;
            packet.body.extend_from_slice(messages[0].bytes);
            Ok(())
        }

        fn decode(&mut self, packet: &Packet, out: &mut Decoded) -> Result<(), Failure> {
            self.decoded += 1;
            let text = String::from_utf8_lossy(&packet.body);
            let number = text.trim_start_matches("message ").parse().unwrap();
            self.newest = self.newest.max(number);
            if self.refuse.as_ref().is_some_and(|refuses| refuses(number, self.newest)) {
                return Err("too late".into());
            }
            out.push_with(|bytes| {
                bytes.extend_from_slice(&packet.body);
                if self.spoil_nth == Some(self.decoded) {
                    bytes[0] ^= 1;
                }
            });
            Ok(())
        }

        fn is_too_late(&self, error: &Failure) -> bool {
            error.to_string() == "too late"
        }

        fn acknowledge(&mut self, out: &mut Vec<u8>) {
            out.push(1);
        }

        fn acknowledged(&mut self, _: &[u8]) -> Result<(), Failure> {
            self.acknowledged.push(self.encoded);
            Ok(())
        }

        fn state(&mut self) -> State {
            State::NONE
        }
    }

    fn run_plain(technique: &mut Plain, loss: f64) -> Outcome {
        let texts: Vec<String> = (0..1000).map(|n| format!("message {n}")).collect();
        let messages: Vec<_> = texts
            .iter()
            .map(|text| Message { bytes: text.as_bytes(), kind: 0, sender: 0, event: None })
            .collect();
        let reorder = if loss > 0.0 { 0.1 } else { 0.0 };
        let link = LinkConfig { delay: 5, loss, reorder, reorder_by: 3, ..LinkConfig::default() };
        let sent_at = |at| at as u64;
        let path =
            Path { messages_per_packet: 1, sent_at: &sent_at, forward: link, back: link, seed: 1 };
        run(technique, &messages, &path).unwrap()
    }

    #[test]
    fn what_is_right_is_verified_and_acknowledged_as_late_as_said() {
        let mut technique = Plain::default();
        let outcome = run_plain(&mut technique, 0.0);
        assert_eq!(outcome.failure, None);
        assert_eq!((outcome.messages_arrived, outcome.ack_bytes), (1000, 1000));
        // The first ten messages were sent before the first acknowledgement came.
        assert_eq!(technique.acknowledged[..3], [10, 11, 12]);
    }

    #[test]
    fn one_wrong_byte_is_found() {
        let outcome = run_plain(&mut Plain { spoil_nth: Some(700), ..Plain::default() }, 0.0);
        assert_eq!(outcome.failure.unwrap(), "packet 700: it decoded to something else");
    }

    #[test]
    fn what_is_lost_is_not_counted_as_arrived() {
        let mut technique = Plain::default();
        let outcome = run_plain(&mut technique, 0.2);
        assert!((740..860).contains(&outcome.messages_arrived), "{}", outcome.messages_arrived);
        assert!(technique.acknowledged.len() < outcome.messages_arrived * 9 / 10);
        assert_eq!(outcome.failure, None);
    }

    #[test]
    fn a_packet_in_twenty_may_come_too_late_and_only_if_others_overtook_it() {
        let run = |refuse| run_plain(&mut Plain { refuse: Some(refuse), ..Plain::default() }, 0.2);
        let left = Cell::new(1);
        let one = run(Box::new(move |number, newest| number < newest && left.replace(0) == 1));
        assert_eq!((one.failure, one.messages_refused), (None, 1));
        let all = run(Box::new(|number, newest| number < newest));
        let expected = format!("{0} of {0} overtaken packets came too late", all.messages_refused);
        assert_eq!(all.failure.unwrap(), expected);
        let first = run(Box::new(|number, newest| number == newest && number == 701));
        assert_eq!(first.failure.unwrap(), "packet 702: too late");
    }
}
