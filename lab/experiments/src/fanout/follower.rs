//! A client that handles the datagrams of groups without decoding them. It compares each with a
//! copy that was decoded once for all followers, counts the messages in it, and acknowledges it as
//! every member of a group does (wire W70 to W75). Messages to this client alone go to its own
//! session.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::frames::{LAST, Parts, frame, frames, varint, write_varint};
use super::ledger::Ledger;
use super::ledger::Tally;
use super::member::Packet;
use super::reference::{Entry, Reference};

const ACKNOWLEDGED: u8 = 0x16;
const MODEL: u8 = 0x18;
const SHARED_DATAGRAM: u8 = 0x1e;
const SHARED_AGAIN: u8 = 0x27;
const LEAVE: u8 = 0x1f;

/// The lane value of group datagrams (W61, W71).
const DATAGRAMS: u8 = 1;

/// The largest number of models at a time (W71).
const MOST_GROUPS: usize = 2;

/// W72: an acknowledgement waits this long, plus a part of the spread that each receiver chooses;
/// in ns.
const ACKNOWLEDGE_WITHIN: u64 = 250_000_000;
const SPREAD_MS: u64 = 150;
/// An acknowledgement waits for at most this many packets.
const ACKNOWLEDGE_AFTER: u32 = 32;
/// After a repeated packet, an acknowledgement waits only this long; in ns.
const ACKNOWLEDGE_SOON: u64 = 30_000_000;

/// The groups that one client belongs to.
pub(super) struct Follower {
    /// The part of the spread that this receiver chose, in ns.
    spread: u64,
    arriving: Option<Arriving>,
    groups: Vec<GroupState>,
}

/// A model of which not all pieces have arrived.
struct Arriving {
    group: u32,
    total: usize,
    bytes: Vec<u8>,
}

struct GroupState {
    group: u32,
    entry: Arc<Entry>,
    /// The number of the packet up to which none is missing.
    top: u32,
    newest: u32,
    /// Bit `k`: whether the packet `k` before the newest arrived.
    came: u128,
    unanswered: u32,
    /// The time at which the acknowledgement is due, by the ledger's clock.
    answer_at: Option<u64>,
}

/// The state that followers share, and the tally of this follower.
pub(super) struct Desk<'a> {
    pub(super) ledger: &'a Ledger,
    pub(super) reference: &'a Mutex<Reference>,
    pub(super) tally: &'a mut Tally,
    /// The current time, by the ledger's clock.
    pub(super) at: u64,
}

impl Desk<'_> {
    /// Locks the decoders that followers share. Clients of other threads wait meanwhile.
    fn reference(&self) -> MutexGuard<'_, Reference> {
        self.reference.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Follower {
    pub(super) fn new(number: usize) -> Self {
        let spread = (number as u64 * 37 % SPREAD_MS) * 1_000_000;
        Follower { spread, arriving: None, groups: Vec::new() }
    }

    /// Handles a datagram. Returns false if it belongs to no group.
    pub(super) fn datagram(&mut self, desk: &mut Desk<'_>, packet: &[u8]) -> bool {
        let Some((&tag, mut rest)) = packet.split_first() else { return false };
        if tag != LAST | SHARED_DATAGRAM {
            return false;
        }
        if let Some(group) = varint(&mut rest) {
            self.body(desk, group as u32, rest, false);
        }
        true
    }

    /// Takes the frames of groups out of a packet of the stream, and appends the other frames to
    /// `left`.
    pub(super) fn packet(
        &mut self,
        desk: &mut Desk<'_>,
        packet: &[u8],
        left: &mut Vec<u8>,
        out: &mut Vec<Packet>,
    ) -> Result<(), String> {
        for Parts { kind, mut payload, whole } in frames(packet) {
            let lane = payload.first().copied();
            match kind {
                MODEL if lane == Some(DATAGRAMS) => {
                    self.model(desk, &payload[1..], out)?;
                }
                LEAVE if lane == Some(DATAGRAMS) => {
                    let group = varint(&mut &payload[1..]).ok_or("LEAVE: no group")? as u32;
                    self.groups.retain(|state| state.group != group);
                    self.arriving.take_if(|arriving| arriving.group == group);
                }
                SHARED_AGAIN => {
                    let group = varint(&mut payload).ok_or("SHARED_AGAIN: no group")?;
                    varint(&mut payload).ok_or("SHARED_AGAIN: it did not wait")?;
                    self.body(desk, group as u32, payload, true);
                }
                _ => left.extend_from_slice(whole),
            }
        }
        Ok(())
    }

    /// The time of the next acknowledgement.
    pub(super) fn due(&self) -> Option<u64> {
        self.groups.iter().filter_map(|state| state.answer_at).min()
    }

    /// Sends the acknowledgements that are due.
    pub(super) fn wake(&mut self, reference: &Reference, now: u64, out: &mut Vec<Packet>) {
        let due = |state: &&mut GroupState| state.answer_at.is_some_and(|at| at <= now);
        for state in self.groups.iter_mut().filter(due) {
            out.push(Packet::Datagram(state.acknowledge(reference)));
        }
    }

    /// Handles a piece of a model (W71), and answers the last one on the stream.
    fn model(
        &mut self,
        desk: &mut Desk<'_>,
        mut piece: &[u8],
        out: &mut Vec<Packet>,
    ) -> Result<(), String> {
        let mut number = || varint(&mut piece).ok_or("MODEL: too short");
        let (group, total, offset) = (number()? as u32, number()? as usize, number()?);
        if offset == 0 {
            self.arriving = Some(Arriving { group, total, bytes: Vec::new() });
        }
        let arriving = self.arriving.as_mut().filter(|arriving| arriving.group == group);
        let arriving = arriving.ok_or("MODEL: pieces that do not fit together")?;
        arriving.bytes.extend_from_slice(piece);
        let is_whole = |arriving: &mut Arriving| arriving.bytes.len() >= arriving.total;
        let Some(whole) = self.arriving.take_if(is_whole) else { return Ok(()) };
        let entry = desk.reference().enter(group, &whole.bytes)?;
        self.groups.retain(|state| state.group != group);
        if self.groups.len() == MOST_GROUPS {
            self.groups.remove(0);
        }
        let mut state = GroupState::new(group, entry);
        out.push(Packet::Stream(state.acknowledge(&desk.reference())));
        self.groups.push(state);
        Ok(())
    }

    /// Handles a body. A body that cannot be decoded does no harm to later ones.
    fn body(&mut self, desk: &mut Desk<'_>, group: u32, bytes: &[u8], is_again: bool) {
        let state = self.groups.iter_mut().find(|state| state.group == group);
        let Some(state) = state else { return };
        let body = desk.reference().read(desk.ledger, group, bytes);
        if let Some(body) = &body
            && state.take(body.number)
        {
            desk.tally.follow(desk.ledger, desk.at, &body.names, body.altered);
        }
        if body.is_some() || is_again {
            state.unanswered += 1;
            let within = match is_again {
                _ if state.unanswered >= ACKNOWLEDGE_AFTER => 0,
                true => ACKNOWLEDGE_SOON,
                false => ACKNOWLEDGE_WITHIN + self.spread,
            };
            let at = desk.at + within;
            state.answer_at = Some(state.answer_at.map_or(at, |before| before.min(at)));
        }
    }
}

impl GroupState {
    fn new(group: u32, entry: Arc<Entry>) -> Self {
        let (top, newest, came) = (entry.newest, entry.newest, u128::MAX);
        GroupState { group, entry, top, newest, came, unanswered: 0, answer_at: None }
    }

    /// Notes a packet. Returns false if it arrived before, or is too old to tell.
    fn take(&mut self, number: u32) -> bool {
        if number > self.newest {
            self.came = self.came.checked_shl(number - self.newest).unwrap_or(0);
            self.newest = number;
        }
        let Some(bit) = 1u128.checked_shl(self.newest - number) else { return false };
        let is_new = self.came & bit == 0;
        self.came |= bit;
        while self.top < self.newest && self.has(self.top + 1) {
            self.top += 1;
        }
        is_new
    }

    fn has(&self, number: u32) -> bool {
        let bit = 1u128.checked_shl(self.newest - number);
        bit.is_some_and(|bit| self.came & bit != 0)
    }

    /// The frame ACKNOWLEDGED (W72).
    fn acknowledge(&mut self, reference: &Reference) -> Vec<u8> {
        (self.unanswered, self.answer_at) = (0, None);
        let lacking = (!(self.came >> 1) & (u128::MAX >> 1)).to_le_bytes();
        let used = lacking.iter().rposition(|&byte| byte != 0).map_or(0, |last| last + 1);
        // If this model is newer than the first follower's, the acknowledgement is at first known
        // only from the model.
        let known = reference.acknowledgement(self.group, self.top);
        let gmc = known.filter(|(top, _)| *top > self.entry.newest).map(|(_, bytes)| bytes);
        let gmc = gmc.unwrap_or_else(|| Arc::clone(&self.entry.acknowledgement));
        let mut payload = Vec::new();
        write_varint(u64::from(self.group), &mut payload);
        write_varint(u64::from(self.newest), &mut payload);
        write_varint(used as u64, &mut payload);
        payload.extend_from_slice(&lacking[..used]);
        payload.extend_from_slice(&gmc);
        frame(ACKNOWLEDGED, &payload)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn state() -> GroupState {
        let acknowledgement = Arc::from([0]);
        GroupState::new(3, Arc::new(Entry { newest: 5, acknowledgement }))
    }

    #[test]
    fn w72_what_is_missing_is_told() {
        let mut state = state();
        let reference = Reference::default();
        assert!(state.take(6) && state.take(9) && !state.take(9) && !state.take(4));
        assert_eq!((state.top, state.newest), (6, 9));
        // The two packets before the newest are missing: bits 0 and 1.
        assert_eq!(state.acknowledge(&reference), [ACKNOWLEDGED, 5, 3, 9, 1, 0b11, 0]);
        assert!(state.take(7) && state.take(8));
        assert_eq!(state.top, 9);
        assert_eq!(state.acknowledge(&reference), [ACKNOWLEDGED, 4, 3, 9, 0, 0]);
        assert!(state.take(400));
        assert_eq!(state.top, 9);
        assert!(!state.take(10), "too old to tell");
    }

    #[test]
    fn what_is_no_matter_of_a_class_is_left() {
        let (ledger, reference) = (Ledger::new(1, 1), Mutex::default());
        let mut tally = Tally::new(None, false);
        let desk = Desk { ledger: &ledger, reference: &reference, tally: &mut tally, at: 0 };
        let (mut desk, mut follower) = (desk, Follower::new(1));
        let leave = frame(LEAVE, &[DATAGRAMS, 3]);
        let ping = frame(0x0e, &[5]);
        let body = [LAST | 7, 1, 2, 3];
        let packet = [&leave[..], &ping, &frame(LEAVE, &[0, 3]), &body].concat();
        let (mut left, mut out) = (Vec::new(), Vec::new());
        follower.packet(&mut desk, &packet, &mut left, &mut out).unwrap();
        assert_eq!(left, packet[leave.len()..]);
        assert!(out.is_empty());
        let model = frame(MODEL, &[DATAGRAMS, 3, 2, 1, 0]);
        assert!(follower.packet(&mut desk, &model, &mut left, &mut out).is_err());
        assert!(follower.datagram(&mut desk, &[LAST | SHARED_DATAGRAM, 3, 1, 1]));
        assert!(!follower.datagram(&mut desk, &[0x40, 0, 0]));
    }
}
