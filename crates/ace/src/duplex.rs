//! One end of a stream, in both directions. The stream is cut into blocks; a policy chooses a
//! candidate (a codec with its level) for each block.

use alloc::boxed::Box;
use core::time::Duration;

use crate::frame::{Hello, LARGEST_BLOCK, LONGEST_HISTORY};
use crate::incoming::{Control, Incoming};
use crate::outgoing::Outgoing;
use crate::spare::Spare;
use crate::{Coders, Policy, Profile, Report, Settings, SettingsError, StreamError};

/// One end of a stream, with plain bytes on the application's side and compressed blocks on the
/// transport's.
///
/// The owner drives an end. After each event it calls [`work`](Self::work) until that returns
/// `false`, gives [`output`](Self::output) to the transport, and passes received bytes to
/// [`receive`](Self::receive) as long as some are [`wanted`](Self::wanted). There are no timers.
///
/// Memory, with blocks of `b` bytes, a history of `h` bytes (the last bytes of each direction,
/// which serve as a dictionary), and blocks of `p` bytes from the other end (at most 1 MiB): at
/// most `8 b + 4 h` for outgoing bytes, `5 p + 4 h` for incoming bytes, `8 max(b, p)` for buffers
/// that are reused, and 256 KiB; 1 MiB more if the other end sends frames of a few bytes only. It
/// is allocated as needed. After [`rest`](Self::rest) at both ends an idle stream holds less than 4
/// KiB.
#[derive(Debug)]
pub struct Duplex {
    outgoing: Outgoing,
    incoming: Incoming,
    spare: Spare,
    /// Whether a block is decompressed next, if there is work in both directions.
    unpack_next: bool,
    transport_ended: bool,
    failed: Option<StreamError>,
}

/// The smallest block size. With smaller blocks the headers and calls would cost more than the
/// blocks.
const SMALLEST_BLOCK: usize = 1 << 10;

impl Duplex {
    /// Creates an end. Its first output is its hello, the message that names the codecs and limits
    /// of this end.
    ///
    /// # Errors
    /// Settings that are out of bounds.
    pub fn new(settings: &Settings) -> Result<Self, SettingsError> {
        let candidates = match &settings.profile {
            Profile::Adaptive { candidates, .. } => &candidates[..],
            Profile::Always(candidate) => core::slice::from_ref(candidate),
        };
        if let Some(&wrong) = candidates.iter().find(|candidate| !Coders::can_pack(**candidate)) {
            return Err(SettingsError::Candidate(wrong));
        }
        check_sizes(settings)?;
        Self::with_policy(settings, settings.policy())
    }

    /// Creates an end with a custom policy. Only the sizes of `settings` are used. If the policy
    /// chooses a codec that either end lacks, the block is sent uncompressed. If it chooses a
    /// candidate with history and there is no history, the codec works without it.
    ///
    /// # Errors
    /// Settings that are out of bounds.
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

    // Calls for the application.

    /// Accepts bytes to send and returns how many were accepted: 0 if the buffer, which has space
    /// for two blocks, is full, and after [`finish`](Self::finish).
    pub fn write(&mut self, bytes: &[u8]) -> usize {
        self.outgoing.write(bytes, &mut self.spare)
    }

    /// Makes the end send all written bytes, including an incomplete block.
    pub fn flush(&mut self) {
        self.outgoing.flush();
    }

    /// Whether the transport has accepted all written bytes and, after [`finish`](Self::finish),
    /// the frame that ends this direction.
    pub fn is_flushed(&self) -> bool {
        self.outgoing.is_flushed()
    }

    /// Ends the outgoing direction: the other end sees the end of the stream after the written
    /// bytes. The opposite direction stays open.
    pub fn finish(&mut self) {
        self.outgoing.finish();
    }

    /// Decompressed bytes that were not read yet. They stay until [`read`](Self::read).
    pub fn readable(&self) -> &[u8] {
        self.incoming.readable()
    }

    /// Removes the first `bytes` bytes of [`readable`](Self::readable), which the application has
    /// read.
    pub fn read(&mut self, bytes: usize) {
        self.incoming.read(bytes, &mut self.spare);
    }

    /// Whether the other end has finished and everything was read.
    pub fn is_at_end(&self) -> bool {
        self.incoming.is_at_end()
    }

    /// Whether the transport may be closed: both ends have finished, the application here has read
    /// everything, and the transport has accepted all output. Until then the transport's outgoing
    /// direction must stay open for acknowledgements.
    pub fn is_over(&self) -> bool {
        self.incoming.is_at_end() && self.outgoing.is_over()
    }

    // Compression and decompression.

    /// Compresses or decompresses at most one block, if there is one and space for the result.
    /// `clock` returns the time; it is called before and after the work to measure the duration.
    /// Returns whether there was work: then there may be more.
    ///
    /// # Errors
    /// Received bytes that are not valid. The stream has failed and gives no more output.
    pub fn work(
        &mut self,
        coders: &mut Coders,
        clock: &mut dyn FnMut() -> Duration,
    ) -> Result<bool, StreamError> {
        self.check()?;
        let unpack = self.incoming.has_work();
        let pack = self.outgoing.has_work(self.can_receive_acknowledgements());
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

    /// Whether acknowledgements can arrive: not while earlier input waits for the application, and
    /// not when the transport has ended.
    fn can_receive_acknowledgements(&self) -> bool {
        !self.transport_ended && (self.wanted() > 0 || self.incoming.has_work())
    }

    /// Sends an acknowledgement if one is due, or with `at_once` if there is anything to
    /// acknowledge.
    fn acknowledge(&mut self, now: Duration, at_once: bool) {
        if self.outgoing.outbox.can_take_acknowledgement()
            && let Some(acknowledgement) = self.incoming.acknowledgement(now, at_once)
        {
            self.outgoing.outbox.acknowledge(&acknowledgement);
        }
    }

    // Calls for the transport.

    /// Bytes for the transport. They stay until [`sent`](Self::sent).
    pub fn output(&self) -> &[u8] {
        if self.failed.is_some() { &[] } else { self.outgoing.outbox.output() }
    }

    /// Removes the first `bytes` bytes of [`output`](Self::output), which the transport has
    /// accepted.
    pub fn sent(&mut self, now: Duration, bytes: usize) {
        let Outgoing { outbox, ledger, .. } = &mut self.outgoing;
        outbox.sent(now, bytes, ledger, &mut self.spare);
        self.acknowledge(now, false);
    }

    /// How many received bytes can be accepted. If 0, [`work`](Self::work) or a read of the
    /// application must come first.
    pub fn wanted(&self) -> usize {
        if self.failed.is_some() { 0 } else { self.incoming.wanted() }
    }

    /// Accepts received bytes, at most as many as are [`wanted`](Self::wanted), and returns how
    /// many were accepted.
    ///
    /// # Errors
    /// Received bytes that are not valid.
    pub fn receive(&mut self, now: Duration, bytes: &[u8]) -> Result<usize, StreamError> {
        self.check()?;
        let bytes = &bytes[..bytes.len().min(self.wanted())];
        let outgoing = &mut self.outgoing;
        let outcome =
            self.incoming.receive(now, bytes, &mut self.spare, |control, spare| match control {
                Control::Hello(hello) => {
                    outgoing.hello(hello, spare);
                    Ok(())
                }
                Control::Acknowledgement(acknowledgement) => {
                    outgoing.acknowledge(now, &acknowledgement)
                }
            });
        outcome.inspect_err(|error| self.failed = Some(*error))?;
        Ok(bytes.len())
    }

    /// Notes that the transport has no input at present. The time until the next input counts as
    /// waiting for the network.
    pub fn starved(&mut self, now: Duration) {
        self.incoming.starved(now);
    }

    /// Notes that the transport has ended.
    ///
    /// # Errors
    /// [`StreamError::Truncated`] if the stream has not ended.
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

    /// Releases the buffers and the history of an idle stream. They are allocated again when
    /// needed.
    pub fn rest(&mut self) {
        self.outgoing.rest();
        self.incoming.rest();
        self.spare.free();
    }

    /// Counters and forecasts of this end.
    pub fn report(&self) -> Report {
        let Duplex { outgoing, incoming, .. } = self;
        Report {
            candidate: outgoing.candidate,
            plain_out: outgoing.plain_bytes,
            wire_out: outgoing.wire_bytes,
            plain_in: incoming.plain_bytes,
            wire_in: incoming.wire_bytes,
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
