//! TLS of one connection between calls: it holds memory only for bytes that wait.
//!
//! rustls' own connections with buffers keep 4 KB for what they read, for as long as they live.
//! Most connections are idle, so here the buffers are lent by the thread, and given back when
//! nothing is left in them. With 2,000 silent WebSockets in a room, the server's memory for each is
//! 14.2 KB, and 18.2 KB with rustls' buffers: this module saves 22 %.

use std::cell::Cell;
use std::io::{self, ErrorKind};
use std::mem::take;
use std::sync::Arc;

use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::server::UnbufferedServerConnection;
use tokio_rustls::rustls::unbuffered::{ConnectionState, EncodeError, UnbufferedStatus};

/// Bytes that are read at a time: a full record is received whole.
const READ: usize = 32 << 10;

/// Most bytes of incomplete messages: the largest message of a handshake, and a record. With more,
/// rustls has refused the message.
const MOST_INCOMPLETE: usize = (64 << 10) + (17 << 10);

/// Bytes that are encrypted together: the largest record (RFC 8446, section 5.1).
const RECORD: usize = 16 << 10;

/// Most bytes that encryption adds to a record, in both versions of TLS.
const ADDED: usize = 64;

/// A thread keeps a buffer for the next connection if it is not larger than this.
const MOST_LENT: usize = 256 << 10;

thread_local! {
    /// What this thread lends to connections: buffers for reading, for decrypted bytes, for
    /// encrypted bytes, and for parts of a packet.
    static READING: Cell<Vec<u8>> = const { Cell::new(Vec::new()) };
    static DECRYPTED: Cell<Vec<u8>> = const { Cell::new(Vec::new()) };
    static ENCRYPTED: Cell<Vec<u8>> = const { Cell::new(Vec::new()) };
    static GATHERED: Cell<Vec<u8>> = const { Cell::new(Vec::new()) };
}

type Lender = std::thread::LocalKey<Cell<Vec<u8>>>;

/// Lends an empty buffer, unless `own` is in use.
fn lend(own: &mut Vec<u8>, lender: &'static Lender) {
    if own.capacity() == 0 {
        *own = lender.take();
        own.clear();
    }
}

/// Takes a buffer back.
fn give_back(own: &mut Vec<u8>, lender: &'static Lender) {
    let own = take(own);
    if own.capacity() <= MOST_LENT {
        lender.set(own);
    }
}

/// See the [module](self).
pub(super) struct TlsState {
    connection: UnbufferedServerConnection,
    /// Received bytes of a record or a message that is not complete.
    incomplete: Vec<u8>,
    /// Decrypted bytes, of which `read` are read.
    decrypted: Vec<u8>,
    read: usize,
    /// Encrypted bytes, of which `sent` are sent.
    encrypted: Vec<u8>,
    sent: usize,
    /// Most encrypted bytes that may wait.
    limit: usize,
    /// True if the client has said that it sends nothing more.
    is_over: bool,
    /// True after an error. rustls is asked nothing more then, because it may refer to received
    /// bytes that are dropped.
    has_failed: bool,
}

impl TlsState {
    /// A connection whose handshake has not begun. No more bytes are encrypted while `limit` of
    /// them wait.
    pub(super) fn new(config: Arc<ServerConfig>, limit: usize) -> io::Result<Self> {
        let connection = UnbufferedServerConnection::new(config).map_err(invalid)?;
        let (incomplete, decrypted, encrypted) = (Vec::new(), Vec::new(), Vec::new());
        Ok(TlsState {
            connection,
            incomplete,
            decrypted,
            read: 0,
            encrypted,
            sent: 0,
            limit,
            is_over: false,
            has_failed: false,
        })
    }

    pub(super) fn set_limit(&mut self, limit: usize) {
        self.limit = limit;
    }

    pub(super) fn is_handshaking(&self) -> bool {
        self.connection.is_handshaking()
    }

    /// The protocol that both ends have agreed on.
    pub(super) fn protocol(&self) -> Option<&[u8]> {
        self.connection.alpn_protocol()
    }

    /// Copies decrypted bytes; `None` if there are none, and further ones have to be received. 0
    /// bytes are the end of the stream.
    pub(super) fn take(&mut self, bytes: &mut [u8]) -> Option<usize> {
        let waiting = &self.decrypted[self.read..];
        if waiting.is_empty() {
            return self.is_over.then_some(0);
        }
        let taken = waiting.len().min(bytes.len());
        bytes[..taken].copy_from_slice(&waiting[..taken]);
        self.read += taken;
        if self.read == self.decrypted.len() {
            self.read = 0;
            give_back(&mut self.decrypted, &DECRYPTED);
        }
        Some(taken)
    }

    /// Reads bytes by `read`, and decrypts them. TLS may have an answer afterwards, such as an
    /// alert: see [`waiting`](Self::waiting).
    ///
    /// # Errors
    /// What `read` returns; [`ErrorKind::UnexpectedEof`] if it reads 0 bytes;
    /// [`ErrorKind::InvalidData`] if the client breaks a rule.
    pub(super) fn receive(
        &mut self,
        read: impl FnOnce(&mut [u8]) -> io::Result<usize>,
    ) -> io::Result<()> {
        let mut buffer = READING.take();
        let kept = self.incomplete.len();
        if buffer.len() < kept + READ {
            buffer.resize(kept + READ, 0);
        }
        let outcome = match read(&mut buffer[kept..]) {
            Ok(0) => Err(ErrorKind::UnexpectedEof.into()),
            Ok(received) => {
                buffer[..kept].copy_from_slice(&self.incomplete);
                let received = &mut buffer[..kept + received];
                let outcome = self.advance(received, None);
                let consumed = *outcome.as_ref().unwrap_or(&received.len());
                // Mostly nothing is left, and nothing is allocated.
                self.incomplete = received[consumed..].to_vec();
                outcome.map(drop)
            }
            Err(error) => Err(error),
        };
        give_back(&mut buffer, &READING);
        if self.incomplete.len() > MOST_INCOMPLETE {
            self.has_failed = true;
            return Err(ErrorKind::InvalidData.into());
        }
        outcome
    }

    /// Encrypts as many bytes of the parts as may wait. Returns how many.
    pub(super) fn encrypt(&mut self, parts: [&[u8]; 3]) -> io::Result<usize> {
        let free = self.limit.saturating_sub(self.encrypted.len() - self.sent);
        let mut gathered = Vec::new();
        let plain = match parts {
            [whole, [], []] => whole,
            _ => {
                lend(&mut gathered, &GATHERED);
                parts.iter().for_each(|part| gathered.extend_from_slice(part));
                &gathered[..]
            }
        };
        let plain = &plain[..plain.len().min(free)];
        let mut incomplete = take(&mut self.incomplete);
        let mut outcome = Ok(plain.len());
        for record in plain.chunks(RECORD) {
            // An incomplete record is passed, too, because rustls refers to it.
            match self.advance(&mut incomplete, Some(record)) {
                Ok(consumed) => drop(incomplete.drain(..consumed)),
                Err(error) => {
                    outcome = Err(error);
                    break;
                }
            }
        }
        self.incomplete = incomplete;
        if gathered.capacity() > 0 {
            give_back(&mut gathered, &GATHERED);
        }
        outcome
    }

    /// Tells the client that nothing more will be sent.
    pub(super) fn finish(&mut self) {
        if self.has_failed {
            return;
        }
        let mut incomplete = take(&mut self.incomplete);
        let UnbufferedStatus { discard, state, .. } =
            self.connection.process_tls_records(&mut incomplete);
        if let Ok(ConnectionState::WriteTraffic(mut writer)) = state {
            lend(&mut self.encrypted, &ENCRYPTED);
            let at = self.encrypted.len();
            self.encrypted.resize(at + ADDED, 0);
            let written = writer.queue_close_notify(&mut self.encrypted[at..]).unwrap_or(0);
            self.encrypted.truncate(at + written);
        }
        incomplete.drain(..discard);
        self.incomplete = incomplete;
    }

    /// Encrypted bytes that wait to be sent.
    pub(super) fn waiting(&self) -> &[u8] {
        &self.encrypted[self.sent..]
    }

    /// Notes that this number of the waiting bytes was sent.
    pub(super) fn sent(&mut self, bytes: usize) {
        self.sent += bytes;
        if self.sent == self.encrypted.len() {
            self.sent = 0;
            give_back(&mut self.encrypted, &ENCRYPTED);
        }
    }

    /// Decrypts complete records of `received`, and encrypts `record` after what TLS itself has to
    /// say. Returns how many of the received bytes are done with.
    fn advance(&mut self, received: &mut [u8], record: Option<&[u8]>) -> io::Result<usize> {
        if self.has_failed {
            return Err(ErrorKind::BrokenPipe.into());
        }
        let advanced = self.try_advance(received, record);
        self.has_failed = advanced.is_err();
        advanced
    }

    fn try_advance(&mut self, received: &mut [u8], record: Option<&[u8]>) -> io::Result<usize> {
        let mut done = 0;
        loop {
            let UnbufferedStatus { mut discard, state, .. } =
                self.connection.process_tls_records(&mut received[done..]);
            match state {
                Ok(ConnectionState::ReadTraffic(mut traffic)) => {
                    lend(&mut self.decrypted, &DECRYPTED);
                    while let Some(record) = traffic.next_record() {
                        let record = record.map_err(invalid)?;
                        self.decrypted.extend_from_slice(record.payload);
                        discard += record.discard;
                    }
                    if self.decrypted.is_empty() {
                        give_back(&mut self.decrypted, &DECRYPTED);
                    }
                }
                Ok(ConnectionState::EncodeTlsData(mut data)) => {
                    lend(&mut self.encrypted, &ENCRYPTED);
                    let encode = |to: &mut [u8]| data.encode(to);
                    append(&mut self.encrypted, encode)?;
                }
                Ok(ConnectionState::TransmitTlsData(data)) => data.done(),
                Ok(ConnectionState::PeerClosed) => self.is_over = true,
                Ok(ConnectionState::WriteTraffic(mut writer)) => {
                    if let Some(record) = record {
                        lend(&mut self.encrypted, &ENCRYPTED);
                        let at = self.encrypted.len();
                        self.encrypted.resize(at + record.len() + ADDED, 0);
                        let written = writer.encrypt(record, &mut self.encrypted[at..]);
                        self.encrypted.truncate(at + *written.as_ref().unwrap_or(&0));
                        written.map_err(io::Error::other)?;
                    }
                    return Ok(done + discard);
                }
                Ok(ConnectionState::BlockedHandshake | ConnectionState::Closed) => {
                    return match record {
                        None => Ok(done + discard),
                        Some(_) => Err(ErrorKind::BrokenPipe.into()),
                    };
                }
                Ok(_) => return Err(ErrorKind::InvalidData.into()),
                Err(error) => {
                    // The client is told why, unless TLS has something else to say first: rustls
                    // must not be asked twice.
                    let rest = received.get_mut(done + discard..).unwrap_or_default();
                    let status = self.connection.process_tls_records(rest);
                    if let Ok(ConnectionState::EncodeTlsData(mut alert)) = status.state {
                        lend(&mut self.encrypted, &ENCRYPTED);
                        append(&mut self.encrypted, |to| alert.encode(to))?;
                    }
                    return Err(invalid(error));
                }
            }
            done += discard;
        }
    }
}

/// Appends what `encode` writes, which says how much room it needs.
fn append(
    buffer: &mut Vec<u8>,
    mut encode: impl FnMut(&mut [u8]) -> Result<usize, EncodeError>,
) -> io::Result<()> {
    let at = buffer.len();
    if let Err(EncodeError::InsufficientSize(needed)) = encode(&mut []) {
        buffer.resize(at + needed.required_size, 0);
        let written = encode(&mut buffer[at..]).map_err(io::Error::other)?;
        buffer.truncate(at + written);
    }
    Ok(())
}

fn invalid(error: tokio_rustls::rustls::Error) -> io::Error {
    io::Error::new(ErrorKind::InvalidData, error)
}

#[cfg(test)]
#[path = "tls_state_tests.rs"]
mod tests;
