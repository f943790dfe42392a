//! The messages that the two ends exchange before the stream begins.
//!
//! The connecting end sends its token with the name of a route, or with a target that a program
//! chose. It does not wait for the answer but sends the stream at once:
//!
//! ```text
//! request = "GWTUNNEL" 0x01 flags token route
//!         | "GWTUNNEL" 0x02 flags token host port
//! flags   = u8                 bit 0: never compress; others 0
//! token   = u8 length, bytes   empty: no token
//! route   = u8 length, UTF-8
//! host    = u8 length, UTF-8   an address or a name
//! port    = u16                the higher byte first
//!
//! answer  = "GWT" 0x01 code flags message
//! code    = u8                 0: accepted, other codes: refused
//! flags   = u8                 bit 0: never compress; others 0
//! message = u8 length, UTF-8   the reason of a refusal
//! ```
//!
//! The stream of the listening end follows an answer with code 0; nothing follows a refusal.

use std::io;

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};

use crate::Target;

/// The first bytes of a request.
const REQUEST: &[u8; 8] = b"GWTUNNEL";
/// The versions of requests: with a route, which every listening end understands, and with a
/// target.
const WITH_ROUTE: u8 = 1;
const WITH_TARGET: u8 = 2;
/// The first bytes of an answer.
pub(crate) const ANSWER: &[u8; 3] = b"GWT";
/// The version of answers, to requests of both versions.
const VERSION: u8 = 1;
const NEVER: u8 = 1;
/// The length of an answer without its message, in bytes.
pub(crate) const ANSWER_HEAD: usize = ANSWER.len() + 4;

/// The largest length of a token, a route's name and a message in bytes: the length is sent as one
/// byte.
pub(crate) const MAX_TEXT: usize = u8::MAX as usize;

/// The request of the connecting end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Request {
    /// Whether compression is forbidden on this connection.
    pub(crate) never: bool,
    pub(crate) token: Vec<u8>,
    pub(crate) to: Wanted,
}

/// What a request asks to be connected to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Wanted {
    /// The target of the route with this name.
    Route(String),
    Target(Target),
}

/// The answer of the listening end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Answer {
    /// The stream begins.
    Go {
        /// Whether compression is forbidden on this connection.
        never: bool,
    },
    Refused(Refusal),
}

/// Why the listening end refuses a connection.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
#[non_exhaustive]
pub struct Refusal {
    /// The kind of reason.
    pub reason: Reason,
    /// The reason as a sentence, written by the listening end.
    pub message: String,
}

/// The kinds of reasons for a refusal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Reason {
    /// The token is missing or wrong.
    Token,
    /// The listening end has no route of this name.
    Route,
    /// The route's target cannot be reached.
    Target,
    /// The listening end does not permit the target that the program chose.
    Forbidden,
    /// Nothing listens at the target that the program chose.
    NothingListens,
    /// The target that the program chose does not answer, or its name is unknown.
    NoHost,
    /// The listening end has no route to the network of the target that the program chose.
    NoNetwork,
    /// A code that this version does not know.
    Other(u8),
}

/// Why a request cannot be read.
#[derive(Debug, thiserror::Error)]
pub(crate) enum RequestError {
    #[error("this is no connecting end of a groupwire tunnel")]
    NoTunnel,
    #[error("version {0} of the tunnel protocol is not supported")]
    Version(u8),
    #[error("it asks for a target that is no host with a port")]
    Target,
    #[error(transparent)]
    Io(#[from] io::Error),
}

impl Request {
    pub(crate) fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = REQUEST.to_vec();
        let version = match self.to {
            Wanted::Route(_) => WITH_ROUTE,
            Wanted::Target(_) => WITH_TARGET,
        };
        bytes.extend([version, u8::from(self.never) * NEVER]);
        push_text(&self.token, &mut bytes);
        match &self.to {
            Wanted::Route(route) => push_text(route.as_bytes(), &mut bytes),
            Wanted::Target(target) => {
                push_text(target.host_text().as_bytes(), &mut bytes);
                bytes.extend(target.port().to_be_bytes());
            }
        }
        bytes
    }

    /// Reads a request and leaves the bytes behind it unread.
    pub(crate) async fn read(from: &mut (impl AsyncRead + Unpin)) -> Result<Self, RequestError> {
        let mut head = [0; REQUEST.len() + 2];
        from.read_exact(&mut head).await?;
        let [start @ .., version, flags] = head;
        if start != *REQUEST {
            return Err(RequestError::NoTunnel);
        }
        if ![WITH_ROUTE, WITH_TARGET].contains(&version) {
            return Err(RequestError::Version(version));
        }
        let token = read_text(from).await?;
        let name = String::from_utf8(read_text(from).await?);
        let name = name.map_err(|_| RequestError::NoTunnel)?;
        let to = match version {
            WITH_ROUTE => Wanted::Route(name),
            _ => {
                let target = Target::new(&name, from.read_u16().await?);
                Wanted::Target(target.ok_or(RequestError::Target)?)
            }
        };
        Ok(Request { never: flags & NEVER != 0, token, to })
    }
}

impl Answer {
    pub(crate) fn to_bytes(&self) -> Vec<u8> {
        let (code, never, message) = match self {
            Answer::Go { never } => (0, *never, ""),
            Answer::Refused(refusal) => (refusal.reason.code(), false, refusal.message.as_str()),
        };
        let mut bytes = ANSWER.to_vec();
        bytes.extend([VERSION, code, u8::from(never) * NEVER]);
        push_text(message.as_bytes(), &mut bytes);
        bytes
    }

    pub(crate) async fn write(&self, to: &mut (impl AsyncWrite + Unpin)) -> io::Result<()> {
        to.write_all(&self.to_bytes()).await?;
        to.flush().await
    }

    /// The length of the answer that begins with `head`, in bytes; `None` if it is no answer.
    pub(crate) fn length(head: &[u8; ANSWER_HEAD]) -> Option<usize> {
        let is_answer = head.starts_with(ANSWER) && head[ANSWER.len()] == VERSION;
        is_answer.then(|| ANSWER_HEAD + usize::from(head[ANSWER_HEAD - 1]))
    }

    /// Parses a whole answer; `None` if it is not as long as [`length`](Self::length) says.
    pub(crate) fn parse(bytes: &[u8]) -> Option<Self> {
        let (head, message) = bytes.split_first_chunk::<ANSWER_HEAD>()?;
        if Answer::length(head) != Some(bytes.len()) {
            return None;
        }
        let [.., code, flags, _] = *head;
        let message = String::from_utf8_lossy(message);
        // The message is shown on a terminal, so escape sequences are removed.
        let message = message.chars().filter(|char| !char.is_control()).collect();
        Some(match code {
            0 => Answer::Go { never: flags & NEVER != 0 },
            code => Answer::Refused(Refusal { reason: Reason::of(code), message }),
        })
    }
}

impl Refusal {
    pub(crate) fn new(reason: Reason, message: impl Into<String>) -> Self {
        Refusal { reason, message: message.into() }
    }
}

impl Reason {
    fn code(self) -> u8 {
        match self {
            Reason::Token => 1,
            Reason::Route => 2,
            Reason::Target => 3,
            Reason::Forbidden => 4,
            Reason::NothingListens => 5,
            Reason::NoHost => 6,
            Reason::NoNetwork => 7,
            Reason::Other(code) => code,
        }
    }

    fn of(code: u8) -> Self {
        match code {
            1 => Reason::Token,
            2 => Reason::Route,
            3 => Reason::Target,
            4 => Reason::Forbidden,
            5 => Reason::NothingListens,
            6 => Reason::NoHost,
            7 => Reason::NoNetwork,
            code => Reason::Other(code),
        }
    }
}

fn push_text(text: &[u8], bytes: &mut Vec<u8>) {
    let text = &text[..text.len().min(MAX_TEXT)];
    bytes.push(text.len() as u8);
    bytes.extend_from_slice(text);
}

async fn read_text(from: &mut (impl AsyncRead + Unpin)) -> io::Result<Vec<u8>> {
    let mut text = vec![0; usize::from(from.read_u8().await?)];
    from.read_exact(&mut text).await?;
    Ok(text)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn read(mut bytes: &[u8]) -> (Result<Request, RequestError>, usize) {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let request = runtime.block_on(Request::read(&mut bytes));
        (request, bytes.len())
    }

    /// The request is read as it was written, up to its end and not before.
    fn round_trip(request: Request) -> Result<(), TestCaseError> {
        let mut bytes = request.to_bytes();
        bytes.extend(b"more");
        let (received, left) = read(&bytes);
        prop_assert_eq!((received.unwrap(), left), (request, 4));
        for end in 0..bytes.len() - 4 {
            prop_assert!(matches!(read(&bytes[..end]).0, Err(RequestError::Io(_))));
        }
        Ok(())
    }

    proptest! {
        #[test]
        fn a_request_is_read_as_it_was_written(
            never: bool,
            token in prop::collection::vec(any::<u8>(), 0..=MAX_TEXT),
            route in "[a-z0-9é]{0,80}",
        ) {
            round_trip(Request { never, token, to: Wanted::Route(route) })?;
        }

        #[test]
        fn a_request_with_a_target_is_read_as_it_was_written(
            never: bool,
            token in prop::collection::vec(any::<u8>(), 0..=MAX_TEXT),
            host in "[a-z0-9_-]{1,60}(\\.[a-z0-9_-]{1,60}){0,3}",
            port in 1..=u16::MAX,
        ) {
            let target = Target::new(&host, port).unwrap();
            round_trip(Request { never, token, to: Wanted::Target(target) })?;
        }

        #[test]
        fn arbitrary_bytes_are_read_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..64)) {
            let _ = read(&bytes);
            let _ = read(&[REQUEST, &bytes[..]].concat());
            let _ = read(&[REQUEST, &[WITH_TARGET, 0, 0][..], &bytes[..]].concat());
            let _ = Answer::parse(&bytes);
            let _ = Answer::parse(&[ANSWER, &bytes[..]].concat());
        }

        #[test]
        fn an_answer_is_read_as_it_was_written(code: u8, never: bool, message in "[a-z ]{0,255}") {
            let answer = match code {
                0 => Answer::Go { never },
                code => Answer::Refused(Refusal::new(Reason::of(code), message)),
            };
            let bytes = answer.to_bytes();
            let head = bytes.first_chunk().unwrap();
            prop_assert_eq!(Answer::length(head), Some(bytes.len()));
            prop_assert_eq!(Answer::parse(&bytes), Some(answer));
        }
    }

    #[test]
    fn a_refusal_contains_no_control_characters() {
        let refusal = Refusal::new(Reason::Route, "no\x1b[2J such\n route");
        let received = Answer::parse(&Answer::Refused(refusal).to_bytes());
        let clean = Refusal::new(Reason::Route, "no[2J such route");
        assert_eq!(received, Some(Answer::Refused(clean)));
    }

    #[test]
    fn other_protocols_and_versions_are_refused() {
        let http = b"GET / HTTP/1.1\r\nHost: x\r\n\r\n";
        assert!(matches!(read(http).0, Err(RequestError::NoTunnel)));
        let newer = b"GWTUNNEL\x03\0\0\0";
        assert!(matches!(read(newer).0, Err(RequestError::Version(3))));
        let elsewhere = b"GWTUNNEL\x02\0\0\x03a/b\0\x50";
        assert!(matches!(read(elsewhere).0, Err(RequestError::Target)));
        // A request with a route is the same as before targets could be requested.
        let route = Request { never: true, token: b"t".to_vec(), to: Wanted::Route("web".into()) };
        assert_eq!(route.to_bytes(), b"GWTUNNEL\x01\x01\x01t\x03web");
        let target = Wanted::Target(Target::new("example.org", 80).unwrap());
        let target = Request { never: false, token: Vec::new(), to: target };
        assert_eq!(target.to_bytes(), b"GWTUNNEL\x02\0\0\x0bexample.org\0\x50");
        assert_eq!(Answer::length(b"HTTP/1."), None);
    }
}
