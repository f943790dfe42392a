//! A WebSocket client, as slow as it may be, because only the server is measured.

use std::io;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

/// The most bytes of the head of an HTTP answer.
const MAX_HEAD: usize = 16 << 10;
/// The most bytes of a frame.
const MAX_FRAME: usize = 16 << 20;
/// Bytes read at a time.
const READ: usize = 16 << 10;

const TEXT: u8 = 1;
const BINARY: u8 = 2;
const CLOSE: u8 = 8;
const PING: u8 = 9;
const PONG: u8 = 10;

/// Upgrades a connection. Returns it, and the bytes that followed the answer.
pub(crate) async fn open(port: u16, path: &str) -> io::Result<(TcpStream, Vec<u8>)> {
    let mut stream = TcpStream::connect(("127.0.0.1", port)).await?;
    stream.set_nodelay(true)?;
    // The key of RFC 6455, section 1.3. The server's answer to it is not checked.
    let request = format!(
        "GET {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\
         Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n"
    );
    stream.write_all(request.as_bytes()).await?;
    let mut answer = Vec::new();
    loop {
        if let Some(end) = answer.windows(4).position(|four| four == b"\r\n\r\n") {
            if !answer.starts_with(b"HTTP/1.1 101") {
                let line = answer.split(|byte| *byte == b'\r').next().unwrap_or_default();
                let line = String::from_utf8_lossy(line).into_owned();
                return Err(io::Error::other(format!("no WebSocket at {path}: {line}")));
            }
            return Ok((stream, answer.split_off(end + 4)));
        }
        if answer.len() > MAX_HEAD || stream.read_buf(&mut answer).await? == 0 {
            return Err(io::Error::other(format!("no WebSocket at {path}: it hung up")));
        }
    }
}

/// An open connection for packets.
pub(crate) struct Socket {
    stream: TcpStream,
    /// Bytes that came, from the first frame that is not complete on.
    partial: Vec<u8>,
    /// Bytes to be sent.
    out: Vec<u8>,
}

impl Socket {
    /// Connects to the WebSocket of Groupwire's server on this machine.
    pub(crate) async fn open(port: u16) -> io::Result<Self> {
        let (stream, partial) = open(port, "/ws").await?;
        Ok(Socket { stream, partial, out: Vec::new() })
    }

    /// Queues a packet, which [`Socket::flush`] sends.
    pub(crate) fn queue(&mut self, packet: &[u8]) {
        write(Kind::Binary, packet, &mut self.out);
    }

    /// Sends the queued bytes. If the future is dropped, nothing is lost or sent twice.
    pub(crate) async fn flush(&mut self) -> io::Result<()> {
        while !self.out.is_empty() {
            let written = self.stream.write(&self.out).await?;
            self.out.drain(..written);
        }
        Ok(())
    }

    /// Waits for bytes, and passes the packets that are complete to `take`, whose answer is queued.
    /// If the future is dropped, nothing is lost.
    pub(crate) async fn read(
        &mut self,
        mut take: impl FnMut(&[u8]) -> Option<Vec<u8>>,
    ) -> io::Result<()> {
        self.stream.readable().await?;
        let mut space = [0; READ];
        match self.stream.try_read(&mut space) {
            Ok(0) => return Err(io::Error::other("the server hung up")),
            Ok(count) => self.partial.extend_from_slice(&space[..count]),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(()),
            Err(error) => return Err(error),
        }
        let mut rest = &self.partial[..];
        while let Some(frame) = read(&mut rest).map_err(io::Error::other)? {
            match frame {
                Frame::Message(packet) => {
                    if let Some(answer) = take(packet) {
                        write(Kind::Binary, &answer, &mut self.out);
                    }
                }
                Frame::Ping(payload) => write(Kind::Pong, payload, &mut self.out),
                Frame::Close => return Err(io::Error::other("the server closed the connection")),
            }
        }
        let read = self.partial.len() - rest.len();
        self.partial.drain(..read);
        Ok(())
    }
}

/// The kinds of frames that a client sends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Text,
    Binary,
    Pong,
}

/// Appends a frame. Its mask is 0, which is one of the permitted ones and leaves the payload as it
/// is.
pub(crate) fn write(kind: Kind, payload: &[u8], out: &mut Vec<u8>) {
    let opcode = match kind {
        Kind::Text => TEXT,
        Kind::Binary => BINARY,
        Kind::Pong => PONG,
    };
    out.push(0x80 | opcode);
    match payload.len() {
        short @ 0..126 => out.push(0x80 | short as u8),
        middle @ 126..0x1_0000 => {
            out.push(0x80 | 126);
            out.extend((middle as u16).to_be_bytes());
        }
        long => {
            out.push(0x80 | 127);
            out.extend((long as u64).to_be_bytes());
        }
    }
    out.extend([0; 4]);
    out.extend(payload);
}

/// The content of a frame that arrived.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Frame<'a> {
    Message(&'a [u8]),
    Ping(&'a [u8]),
    Close,
}

/// Splits off the first frame; `None`: it is incomplete.
pub(crate) fn read<'a>(bytes: &mut &'a [u8]) -> Result<Option<Frame<'a>>, String> {
    let &[first, second, ref rest @ ..] = *bytes else { return Ok(None) };
    let (length, rest) = match second {
        126 => match rest.split_first_chunk() {
            Some((length, rest)) => (u64::from(u16::from_be_bytes(*length)), rest),
            None => return Ok(None),
        },
        127 => match rest.split_first_chunk() {
            Some((length, rest)) => (u64::from_be_bytes(*length), rest),
            None => return Ok(None),
        },
        short => (u64::from(short), rest),
    };
    if second & 0x80 != 0 || length > MAX_FRAME as u64 {
        return Err("what came is no WebSocket frame of a server".to_owned());
    }
    let Some((payload, rest)) = rest.split_at_checked(length as usize) else { return Ok(None) };
    let frame = match first {
        0x81 | 0x82 => Frame::Message(payload),
        0x89 => Frame::Ping(payload),
        0x88 => Frame::Close,
        0x8a => Frame::Message(&[]),
        _ => return Err(format!("a WebSocket frame of kind {first:#x}, which nobody asked for")),
    };
    *bytes = rest;
    Ok(Some(frame))
}

const _: () = assert!(0x80 | CLOSE == 0x88 && 0x80 | PING == 0x89);

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn frames_are_read_however_long_they_are_and_not_before_they_are_there() {
        for size in [0, 1, 125, 126, 65_535, 65_536] {
            let payload = vec![7; size];
            let mut masked = Vec::new();
            write(Kind::Binary, &payload, &mut masked);
            // A server's frame has no mask, and the mask bit is not set.
            let header = masked.len() - size - 4;
            let mut frame = masked[..header].to_vec();
            frame[1] &= 0x7f;
            frame.extend(&payload);
            assert_eq!(read(&mut &frame[..frame.len() - 1]), Ok(None));
            let mut bytes = &frame[..];
            assert_eq!(read(&mut bytes), Ok(Some(Frame::Message(&payload))));
            assert!(bytes.is_empty());
            assert!(read(&mut &masked[..]).is_err());
        }
        assert_eq!(read(&mut &[0x89, 1, 5][..]), Ok(Some(Frame::Ping(&[5]))));
        assert_eq!(read(&mut &[0x88, 0][..]), Ok(Some(Frame::Close)));
        assert!(read(&mut &[0x01, 0][..]).is_err());
        assert!(read(&mut &[0x82, 127, 255, 0, 0, 0, 0, 0, 0, 0][..]).is_err());
    }

    proptest! {
        #[test]
        fn noise_is_read_or_refused(bytes: Vec<u8>) {
            let mut rest = &bytes[..];
            while let Ok(Some(_)) = read(&mut rest) {}
        }
    }
}
