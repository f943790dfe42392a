//! One end of a connection, which waits for messages without sleep.

use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

/// Bytes of the length before each packed message.
pub(super) const LENGTH: usize = 2;
/// The longest wait for a message.
const PATIENCE: Duration = Duration::from_secs(10);
/// The number of reads between two looks at the clock.
const LOOKS: u32 = 4096;

/// A TCP connection that carries packed messages: `length:u16 packed`, little-endian.
#[derive(Debug)]
pub(super) struct Connection {
    stream: TcpStream,
    buffer: Box<[u8]>,
    filled: usize,
}

impl Connection {
    pub(super) fn new(stream: TcpStream) -> io::Result<Self> {
        stream.set_nonblocking(true)?;
        let buffer = vec![0; LENGTH + usize::from(u16::MAX)].into_boxed_slice();
        Ok(Connection { stream, buffer, filled: 0 })
    }

    /// Sends a frame: a packed message behind its length.
    pub(super) fn send(&mut self, mut frame: &[u8]) -> io::Result<()> {
        while !frame.is_empty() {
            match self.stream.write(frame) {
                Ok(count) => frame = &frame[count..],
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// Waits for a packed message. Only one may be under way.
    pub(super) fn receive(&mut self) -> io::Result<&[u8]> {
        let (start, mut looks) = (Instant::now(), 0);
        self.filled = 0;
        loop {
            match self.stream.read(&mut self.buffer[self.filled..]) {
                Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
                Ok(count) => self.filled += count,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => looks += 1,
                Err(error) => return Err(error),
            }
            if let Some((length, rest)) = self.buffer[..self.filled].split_first_chunk::<LENGTH>()
                && rest.len() >= usize::from(u16::from_le_bytes(*length))
            {
                return Ok(&self.buffer[LENGTH..self.filled]);
            }
            if looks == LOOKS {
                looks = 0;
                if start.elapsed() > PATIENCE {
                    return Err(io::ErrorKind::TimedOut.into());
                }
            }
        }
    }
}
