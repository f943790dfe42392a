//! SOCKS version 5 (RFC 1928) for programs that connect to the tunnel: the command CONNECT, to
//! addresses of both kinds and to names, without authentication.
//!
//! ```text
//! greeting = 0x05 count method*            0x00 among the methods: no authentication
//! choice   = 0x05 method                   0xff: none of them
//! request  = 0x05 command 0x00 address port
//! reply    = 0x05 code 0x00 address port
//! command  = u8                            1 CONNECT; 2 BIND and 3 UDP ASSOCIATE are refused
//! address  = 0x01 4 bytes | 0x03 u8 length, name | 0x04 16 bytes
//! port     = u16, the higher byte first
//! ```
//!
//! No message is longer than 262 bytes, which is all that is kept of a program's.

use std::io;
use std::net::{Ipv4Addr, Ipv6Addr};

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};

use crate::Target;
use crate::preface::Reason;

const VERSION: u8 = 5;
const NO_AUTHENTICATION: u8 = 0;
const NO_METHOD: u8 = 0xff;
const CONNECT: u8 = 1;
const IPV4: u8 = 1;
const NAME: u8 = 3;
const IPV6: u8 = 4;

/// The answer to a request (RFC 1928, section 6).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
#[repr(u8)]
pub enum Reply {
    /// The target is connected.
    Succeeded = 0,
    /// The tunnel failed, or the request cannot be read.
    Failed = 1,
    /// The listening end does not permit the target.
    NotAllowed = 2,
    /// The listening end has no route to the network of the target.
    NetworkUnreachable = 3,
    /// The target does not answer, or its name is unknown.
    HostUnreachable = 4,
    /// Nothing listens at the target's port.
    ConnectionRefused = 5,
    /// The command is not CONNECT.
    CommandNotSupported = 7,
    /// The address is neither of IPv4 nor of IPv6, nor a name.
    AddressTypeNotSupported = 8,
}

/// Why a program's request cannot be served.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SocksError {
    /// The first byte is not the version. Programs of SOCKS 4 and browsers with an HTTP proxy send
    /// others.
    #[error("the program does not speak SOCKS 5: its first byte is {0}")]
    Version(u8),
    /// The program wants to authenticate, which this end cannot do.
    #[error("the program offers no SOCKS connection without authentication")]
    Authentication,
    /// The command is not CONNECT.
    #[error("the SOCKS command {0} is not supported: the tunnel only connects by TCP")]
    Command(u8),
    /// The type of the address is unknown.
    #[error("the type {0} of a SOCKS address is unknown")]
    AddressType(u8),
    /// The target is no host with a port.
    #[error("the SOCKS request names no host with a port")]
    Target,
    /// The connection of the program failed or ended.
    #[error("the program's connection failed: {0}")]
    Io(#[from] io::Error),
}

/// Reads the greeting and the request of a program, and answers the greeting. The request is still
/// to be answered, by [`answer`]. Bytes after the request are not read.
///
/// # Errors
/// Bytes that are no request, and requests for something else than a connection.
pub async fn request<T>(program: &mut T) -> Result<Target, SocksError>
where
    T: AsyncRead + AsyncWrite + Unpin,
{
    greet(program).await?;
    let [version, command, _, kind] = read(program).await?;
    if version != VERSION {
        return Err(SocksError::Version(version));
    }
    let host = match kind {
        IPV4 => Ipv4Addr::from(read::<4>(program).await?).to_string(),
        IPV6 => Ipv6Addr::from(read::<16>(program).await?).to_string(),
        NAME => {
            let mut name = vec![0; usize::from(program.read_u8().await?)];
            program.read_exact(&mut name).await?;
            // What is no text has characters that no name has.
            String::from_utf8_lossy(&name).into_owned()
        }
        other => return Err(SocksError::AddressType(other)),
    };
    let port = program.read_u16().await?;
    // The whole request was read, so that closing the connection does not reset it, which could
    // discard the reply.
    match command {
        CONNECT => Target::new(&host, port).ok_or(SocksError::Target),
        other => Err(SocksError::Command(other)),
    }
}

/// Answers a request. The address of the connection to the target is given as zeros, because the
/// listening end does not reveal it.
///
/// # Errors
/// The connection of the program failed.
pub async fn answer(to: &mut (impl AsyncWrite + Unpin), reply: Reply) -> io::Result<()> {
    to.write_all(&reply.to_bytes()).await?;
    to.flush().await
}

async fn greet<T: AsyncRead + AsyncWrite + Unpin>(program: &mut T) -> Result<(), SocksError> {
    let version = program.read_u8().await?;
    if version != VERSION {
        return Err(SocksError::Version(version));
    }
    let mut methods = vec![0; usize::from(program.read_u8().await?)];
    program.read_exact(&mut methods).await?;
    let is_offered = methods.contains(&NO_AUTHENTICATION);
    let method = if is_offered { NO_AUTHENTICATION } else { NO_METHOD };
    program.write_all(&[VERSION, method]).await?;
    program.flush().await?;
    if is_offered { Ok(()) } else { Err(SocksError::Authentication) }
}

async fn read<const COUNT: usize>(from: &mut (impl AsyncRead + Unpin)) -> io::Result<[u8; COUNT]> {
    let mut bytes = [0; COUNT];
    from.read_exact(&mut bytes).await?;
    Ok(bytes)
}

impl Reply {
    pub(crate) fn to_bytes(self) -> [u8; 10] {
        [VERSION, self as u8, 0, IPV4, 0, 0, 0, 0, 0, 0]
    }
}

impl From<Reason> for Reply {
    fn from(reason: Reason) -> Self {
        match reason {
            Reason::Forbidden => Reply::NotAllowed,
            Reason::NoNetwork => Reply::NetworkUnreachable,
            Reason::NoHost => Reply::HostUnreachable,
            Reason::NothingListens => Reply::ConnectionRefused,
            Reason::Token | Reason::Route | Reason::Target | Reason::Other(_) => Reply::Failed,
        }
    }
}

impl SocksError {
    /// The reply to the request; `None` if the program's bytes are no request of SOCKS 5.
    pub fn reply(&self) -> Option<Reply> {
        match self {
            SocksError::Version(_) | SocksError::Authentication | SocksError::Io(_) => None,
            SocksError::Command(_) => Some(Reply::CommandNotSupported),
            SocksError::AddressType(_) => Some(Reply::AddressTypeNotSupported),
            SocksError::Target => Some(Reply::Failed),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::pin::pin;
    use std::task::{Context, Poll, Waker};

    use proptest::prelude::*;

    use super::*;

    /// The result of a request in these bytes, what was answered so far, and the bytes left.
    fn given(bytes: &[u8]) -> (Result<Target, SocksError>, Vec<u8>, usize) {
        let mut answers = Vec::new();
        let mut program = tokio::io::join(bytes, &mut answers);
        let mut context = Context::from_waker(Waker::noop());
        let outcome = match pin!(request(&mut program)).poll(&mut context) {
            Poll::Ready(outcome) => outcome,
            Poll::Pending => panic!("a slice is always ready"),
        };
        let left = program.reader().len();
        (outcome, answers, left)
    }

    fn asked(command: u8, address: &[u8], port: u16) -> Vec<u8> {
        [&[5, 2, 1, 0, 5, command, 0], address, &port.to_be_bytes()].concat()
    }

    #[test]
    fn addresses_of_both_kinds_and_names_are_targets() {
        let name = [&[3, 11][..], b"example.org"].concat();
        let six = [&[4][..], &Ipv6Addr::LOCALHOST.octets()].concat();
        for (address, target) in
            [(vec![1, 10, 0, 0, 7], "10.0.0.7:258"), (name, "example.org:258"), (six, "[::1]:258")]
        {
            let mut bytes = asked(CONNECT, &address, 258);
            bytes.extend(b"more");
            let (outcome, answers, left) = given(&bytes);
            assert_eq!(outcome.unwrap().to_string(), target);
            assert_eq!((answers, left), (vec![5, 0], 4));
        }
    }

    #[test]
    fn everything_else_gets_the_code_of_the_standard() {
        let four = [1, 10, 0, 0, 7];
        for (bytes, reply) in [
            (asked(2, &four, 80), Reply::CommandNotSupported),
            (asked(3, &four, 80), Reply::CommandNotSupported),
            (asked(CONNECT, &[2, 1], 80), Reply::AddressTypeNotSupported),
            (asked(CONNECT, &four, 0), Reply::Failed),
            (asked(CONNECT, &[3, 0], 80), Reply::Failed),
            (asked(CONNECT, &[3, 3, b'a', b'/', b'b'], 80), Reply::Failed),
            (asked(CONNECT, &[3, 2, 0xff, 0xfe], 80), Reply::Failed),
        ] {
            let (outcome, answers, _) = given(&bytes);
            assert_eq!((outcome.unwrap_err().reply(), answers), (Some(reply), vec![5, 0]));
        }
    }

    #[test]
    fn what_is_no_greeting_without_authentication_gets_no_reply() {
        for (bytes, answers) in [
            (&b"GET / HTTP/1.1"[..], vec![]),
            (b"\x04\x01", vec![]),
            (b"\x05\x01\x02", vec![5, 0xff]),
        ] {
            let (outcome, answered, _) = given(bytes);
            assert_eq!((outcome.unwrap_err().reply(), answered), (None, answers));
        }
    }

    #[test]
    fn refusals_of_the_other_end_have_codes() {
        let code = |reason| Reply::from(reason) as u8;
        let reasons =
            [Reason::Forbidden, Reason::NoNetwork, Reason::NoHost, Reason::NothingListens];
        assert_eq!(reasons.map(code), [2, 3, 4, 5]);
        assert_eq!([Reason::Token, Reason::Target, Reason::Other(77)].map(code), [1; 3]);
        assert_eq!(Reply::NotAllowed.to_bytes(), [5, 2, 0, 1, 0, 0, 0, 0, 0, 0]);
    }

    proptest! {
        #[test]
        fn arbitrary_bytes_are_a_request_or_an_error(
            bytes in prop::collection::vec(any::<u8>(), 0..300),
        ) {
            let _ = given(&bytes);
            let _ = given(&[&[5, 1, 0], &bytes[..]].concat());
            let _ = given(&[&[5, 1, 0, 5, 1, 0, 3], &bytes[..]].concat());
        }

        #[test]
        fn a_request_that_is_cut_off_is_an_error(
            name in "[a-z]{1,20}(\\.[a-z]{1,20}){0,3}",
            port in 1..u16::MAX,
        ) {
            let address = [&[3, name.len() as u8][..], name.as_bytes()].concat();
            let bytes = asked(CONNECT, &address, port);
            let (outcome, _, left) = given(&bytes);
            prop_assert_eq!((outcome.unwrap().to_string(), left), (format!("{name}:{port}"), 0));
            for end in 0..bytes.len() {
                prop_assert!(matches!(given(&bytes[..end]).0, Err(SocksError::Io(_))));
            }
        }
    }
}
