//! One end of a stream in both directions.

use alloc::boxed::Box;
use core::time::Duration;

use crate::frame::{Hello, LARGEST_BLOCK, LONGEST_HISTORY};
use crate::incoming::{Incoming, Word};
use crate::outgoing::Outgoing;
use crate::spare::Spare;
use crate::{Coders, Policy, Profile, Report, Settings, SettingsError, StreamError};

/// One end of a stream: plain octets on the application's side, packed ones on the transport's.
///
/// It is driven from outside. Whenever something happened: [`work`](Self::work) as long as it returns `true`, give
/// [`output`](Self::output) to the transport, and give it what comes as long as it [wants](Self::wanted) any. Nothing
/// happens by the mere passing of time.
///
/// Its memory, with blocks of `b` octets, a history of `h`, and blocks of `p` octets that the other end sends (at most
/// 1 MiB, whatever it is): at most `8 b + 4 h` for what goes, `5 p + 4 h` for what comes and `8 max(b, p)` for buffers
/// that are used again, and 256 KiB; 1 MiB more if the other end sends frames of a few octets only. It is taken as it is
/// needed. After [`rest`](Self::rest) at both ends a stream that is idle holds less than 4 KiB.
#[derive(Debug)]
pub struct Duplex {
    outgoing: Outgoing,
    incoming: Incoming,
    spare: Spare,
    /// Whose turn it is, if there is work in both directions.
    unpack_next: bool,
    transport_ended: bool,
    failed: Option<StreamError>,
}

/// Blocks are not smaller, or headers and calls cost more than the blocks.
const SMALLEST_BLOCK: usize = 1 << 10;

impl Duplex {
    /// An end that says hello in its first octets.
    ///
    /// # Errors
    /// Settings out of their bounds.
    pub fn new(settings: &Settings) -> Result<Self, SettingsError> {
        let candidates = match &settings.profile {
            Profile::Adaptive { candidates, .. } => &candidates[..],
            Profile::Always(candidate) => core::slice::from_ref(candidate),
            Profile::Ace2005(_) => &[],
        };
        if let Some(&wrong) = candidates.iter().find(|candidate| !Coders::can_pack(**candidate)) {
            return Err(SettingsError::Candidate(wrong));
        }
        check_sizes(settings)?;
        Self::with_policy(settings, settings.policy())
    }

    /// An end with a policy of its own; of `settings` only the sizes count. Where the policy decides for what the other
    /// end cannot unpack, or this one not pack, the block goes as it is, and alone if there is no history.
    ///
    /// # Errors
    /// Settings out of their bounds.
    pub fn with_policy(
        settings: &Settings,
        policy: Box<dyn Policy>,
    ) -> Result<Self, SettingsError> {
        check_sizes(settings)?;
        let hello = Hello::new(settings.history);
        Ok(Duplex {
            outgoing: Outgoing::new(settings.block, hello, policy),
            incoming: Incoming::new(hello.history),
            spare: Spare::default(),
            unpack_next: true,
            transport_ended: false,
            failed: None,
        })
    }

    // The application's side.

    /// Takes octets to send, as many as there is room for: one whole block and one that becomes so. 0: not now, or
    /// after [`finish`](Self::finish).
    pub fn write(&mut self, octets: &[u8]) -> usize {
        self.outgoing.write(octets, &mut self.spare)
    }

    /// What was written so far shall go without waiting for a whole block.
    pub fn flush(&mut self) {
        self.outgoing.flush();
    }

    /// Whether all that was written, and the end after [`finish`](Self::finish), has been packed and taken by the
    /// transport.
    pub fn is_flushed(&self) -> bool {
        self.outgoing.is_flushed()
    }

    /// No more will be written: the other end reads an end after what was written. The other direction goes on.
    pub fn finish(&mut self) {
        self.outgoing.finish();
    }

    /// Octets that came and were not read yet. They stay until [`read`](Self::read).
    pub fn readable(&self) -> &[u8] {
        self.incoming.readable()
    }

    /// So many octets of [`readable`](Self::readable) were read.
    pub fn read(&mut self, octets: usize) {
        self.incoming.read(octets, &mut self.spare);
    }

    /// Whether the other end finished and everything was read.
    pub fn is_at_end(&self) -> bool {
        self.incoming.is_at_end()
    }

    /// Whether both ends finished, everything was read here, and the transport took all: it may be closed. Before that
    /// it may not, nor may its direction away from us, as the other end waits for acknowledgements.
    pub fn is_over(&self) -> bool {
        self.incoming.is_at_end() && self.outgoing.is_over()
    }

    // The work between.

    /// Packs or unpacks at most one block, if there is one and room for its outcome. `clock` gives the time, and is
    /// asked before and after: what lies between is what the work took. Returns whether there was work: if so there may
    /// be more.
    ///
    /// # Errors
    /// What is wrong with what came. The stream is over: nothing more comes out of it.
    pub fn work(
        &mut self,
        coders: &mut Coders,
        clock: &mut dyn FnMut() -> Duration,
    ) -> Result<bool, StreamError> {
        self.check()?;
        let unpack = self.incoming.has_work();
        let pack = self.outgoing.has_work(self.acknowledgements_come());
        if unpack && (self.unpack_next || !pack) {
            self.unpack_next = false;
            let now = self.incoming.unpack(coders, &mut self.spare, clock);
            let now = now.inspect_err(|error| self.failed = Some(*error))?;
            self.acknowledge(now, false);
        } else if pack {
            self.unpack_next = true;
            let worked = self.outgoing.pack(coders, &mut self.spare, clock);
            if let Some((before, after)) = worked {
                self.incoming.worked(before, after);
                self.acknowledge(after, true);
            }
        }
        Ok(unpack || pack)
    }

    /// Acknowledgements are behind what the application has not read, and none come after the transport's end.
    fn acknowledgements_come(&self) -> bool {
        !self.transport_ended && (self.wanted() > 0 || self.incoming.has_work())
    }

    fn acknowledge(&mut self, now: Duration, at_once: bool) {
        if self.outgoing.outbox.has_room_for_acknowledgement()
            && let Some(word) = self.incoming.acknowledgement(now, at_once)
        {
            self.outgoing.outbox.acknowledge(&word);
        }
    }

    // The transport's side.

    /// Octets for the transport. They stay until [`sent`](Self::sent).
    pub fn output(&self) -> &[u8] {
        if self.failed.is_some() { &[] } else { self.outgoing.outbox.output() }
    }

    /// The transport took so many octets of [`output`](Self::output).
    pub fn sent(&mut self, now: Duration, octets: usize) {
        let Outgoing { outbox, ledger, .. } = &mut self.outgoing;
        outbox.sent(now, octets, ledger, &mut self.spare);
        self.acknowledge(now, false);
    }

    /// How many octets of the transport there is room for; 0: [`work`](Self::work), or the application has to read
    /// first.
    pub fn wanted(&self) -> usize {
        if self.failed.is_some() { 0 } else { self.incoming.wanted() }
    }

    /// Takes octets that came, at most as many as are [`wanted`](Self::wanted); returns how many it took: all of them,
    /// or as many as were wanted.
    ///
    /// # Errors
    /// What is wrong with them.
    pub fn receive(&mut self, now: Duration, octets: &[u8]) -> Result<usize, StreamError> {
        self.check()?;
        let octets = &octets[..octets.len().min(self.wanted())];
        let outgoing = &mut self.outgoing;
        let outcome =
            self.incoming.receive(now, octets, &mut self.spare, |word, spare| match word {
                Word::Hello(hello) => {
                    outgoing.hello(hello, spare);
                    Ok(())
                }
                Word::Acknowledgement(word) => outgoing.acknowledge(now, &word),
            });
        outcome.inspect_err(|error| self.failed = Some(*error))?;
        Ok(octets.len())
    }

    /// The transport has nothing at present: what passes until the next octets is time in which we waited for the
    /// network.
    pub fn starved(&mut self, now: Duration) {
        self.incoming.starved(now);
    }

    /// The transport ended.
    ///
    /// # Errors
    /// If the stream did not.
    pub fn ended(&mut self) -> Result<(), StreamError> {
        self.check()?;
        self.transport_ended = true;
        if !self.incoming.is_complete() {
            self.failed = Some(StreamError::Truncated);
        }
        self.check()
    }

    fn check(&self) -> Result<(), StreamError> {
        self.failed.map_or(Ok(()), Err)
    }

    /// Nothing has happened for a while: gives back memory (buffers, history), which is taken again when needed.
    pub fn rest(&mut self) {
        self.outgoing.rest();
        self.incoming.rest();
        self.spare.free();
    }

    /// What was done so far.
    pub fn report(&self) -> Report {
        let Duplex { outgoing, incoming, .. } = self;
        Report {
            candidate: outgoing.candidate,
            plain_out: outgoing.plain_octets,
            wire_out: outgoing.wire_octets,
            plain_in: incoming.plain_octets,
            wire_in: incoming.wire_octets,
            packing: outgoing.packing,
            unpacking: incoming.unpacking,
            forecast: outgoing.policy.forecast(),
            bandwidth: outgoing.ledger.bandwidth(),
            ratio: outgoing.ratio,
            saved: outgoing.ledger.saved(),
            memory: size_of::<Self>()
                + size_of_val(&*outgoing.policy)
                + outgoing.memory()
                + incoming.memory()
                + self.spare.memory(),
        }
    }
}

fn check_sizes(settings: &Settings) -> Result<(), SettingsError> {
    if !(SMALLEST_BLOCK..=LARGEST_BLOCK).contains(&settings.block) {
        return Err(SettingsError::Block(settings.block));
    }
    if settings.history > LONGEST_HISTORY {
        return Err(SettingsError::History(settings.history));
    }
    Ok(())
}
