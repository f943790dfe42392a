//! What the two ends say before the stream begins.
//!
//! The connecting end says which route it wants and shows its token; it does not wait for the answer, but goes on with
//! the stream at once:
//!
//! ```text
//! request = "GWTUNNEL" version flags token route
//! version = 0x01
//! flags   = u8                 bit 0: never compress; others 0
//! token   = u8 length, bytes  empty: none
//! route   = u8 length, UTF-8
//!
//! answer  = "GWT" version code flags message
//! code    = u8                 0 go on, else a refusal
//! flags   = u8                 bit 0: never compress; others 0
//! message = u8 length, UTF-8   of a refusal: why, for people
//! ```
//!
//! After an answer of 0 the answering end's stream begins; after any other nothing.

use std::io;

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};

/// What a request begins with.
const REQUEST: &[u8; 8] = b"GWTUNNEL";
/// What an answer begins with.
pub(crate) const ANSWER: &[u8; 3] = b"GWT";
const VERSION: u8 = 1;
const NEVER: u8 = 1;
/// An answer without its message.
pub(crate) const ANSWER_HEAD: usize = ANSWER.len() + 4;

/// The most bytes of a token and of a route's name.
pub(crate) const MAX_TEXT: usize = u8::MAX as usize;

/// What the connecting end asks for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Request {
    /// Its bytes must not be packed.
    pub(crate) never: bool,
    pub(crate) token: Vec<u8>,
    pub(crate) route: String,
}

/// What the listening end answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Answer {
    /// The stream begins.
    Go {
        /// Its bytes must not be packed.
        never: bool,
    },
    Refused(Refusal),
}

/// Why the listening end does not take a connection.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
#[non_exhaustive]
pub struct Refusal {
    /// What kind of reason it is.
    pub reason: Reason,
    /// The reason in its words.
    pub message: String,
}

/// The kinds of reasons for a refusal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Reason {
    /// The token is missing, or another one.
    Token,
    /// There is no such route.
    Route,
    /// The route's target cannot be reached.
    Target,
    /// Something else, which a newer version may know.
    Other(u8),
}

/// What is wrong with a request.
#[derive(Debug, thiserror::Error)]
pub(crate) enum RequestError {
    #[error("this is no groupwire tunnel that connects")]
    NoTunnel,
    #[error("its version {0} of the tunnel is not known here")]
    Version(u8),
    #[error(transparent)]
    Io(#[from] io::Error),
}

impl Request {
    pub(crate) fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = REQUEST.to_vec();
        bytes.extend([VERSION, u8::from(self.never) * NEVER]);
        push_text(&self.token, &mut bytes);
        push_text(self.route.as_bytes(), &mut bytes);
        bytes
    }

    /// Reads a request, and not an byte more.
    pub(crate) async fn read(from: &mut (impl AsyncRead + Unpin)) -> Result<Self, RequestError> {
        let mut head = [0; REQUEST.len() + 2];
        from.read_exact(&mut head).await?;
        let [start @ .., version, flags] = head;
        if start != *REQUEST {
            return Err(RequestError::NoTunnel);
        }
        if version != VERSION {
            return Err(RequestError::Version(version));
        }
        let token = read_text(from).await?;
        let route = String::from_utf8(read_text(from).await?);
        let route = route.map_err(|_| RequestError::NoTunnel)?;
        Ok(Request { never: flags & NEVER != 0, token, route })
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

    /// How many bytes an answer has that begins so; `None` if it is none.
    pub(crate) fn length(head: &[u8; ANSWER_HEAD]) -> Option<usize> {
        let is_answer = head.starts_with(ANSWER) && head[ANSWER.len()] == VERSION;
        is_answer.then(|| ANSWER_HEAD + usize::from(head[ANSWER_HEAD - 1]))
    }

    /// Reads a whole answer, whose [`length`](Self::length) is known.
    pub(crate) fn parse(bytes: &[u8]) -> Option<Self> {
        let (head, message) = bytes.split_first_chunk::<ANSWER_HEAD>()?;
        if Answer::length(head) != Some(bytes.len()) {
            return None;
        }
        let [.., code, flags, _] = *head;
        let message = String::from_utf8_lossy(message);
        // It goes to a terminal.
        let message = message.chars().filter(|letter| !letter.is_control()).collect();
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
            Reason::Other(code) => code,
        }
    }

    fn of(code: u8) -> Self {
        match code {
            1 => Reason::Token,
            2 => Reason::Route,
            3 => Reason::Target,
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

    proptest! {
        #[test]
        fn a_request_comes_as_it_went(
            never: bool,
            token in prop::collection::vec(any::<u8>(), 0..=MAX_TEXT),
            route in "[a-z0-9é]{0,80}",
        ) {
            let request = Request { never, token, route };
            let mut bytes = request.to_bytes();
            bytes.extend(b"more");
            let (came, left) = read(&bytes);
            prop_assert_eq!((came.unwrap(), left), (request.clone(), 4));
            for end in 0..bytes.len() - 4 {
                prop_assert!(matches!(read(&bytes[..end]).0, Err(RequestError::Io(_))));
            }
        }

        #[test]
        fn whatever_comes_is_read_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..64)) {
            let _ = read(&bytes);
            let _ = read(&[REQUEST, &bytes[..]].concat());
            let _ = Answer::parse(&bytes);
            let _ = Answer::parse(&[ANSWER, &bytes[..]].concat());
        }

        #[test]
        fn an_answer_comes_as_it_went(code: u8, never: bool, message in "[a-z ]{0,255}") {
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
    fn a_refusal_cannot_write_on_the_terminal_what_it_likes() {
        let refusal = Refusal::new(Reason::Route, "no\x1b[2J such\n route");
        let came = Answer::parse(&Answer::Refused(refusal).to_bytes());
        let clean = Refusal::new(Reason::Route, "no[2J such route");
        assert_eq!(came, Some(Answer::Refused(clean)));
    }

    #[test]
    fn other_protocols_are_told_apart() {
        let http = b"GET / HTTP/1.1\r\nHost: x\r\n\r\n";
        assert!(matches!(read(http).0, Err(RequestError::NoTunnel)));
        let newer = b"GWTUNNEL\x02\0\0\0";
        assert!(matches!(read(newer).0, Err(RequestError::Version(2))));
        assert_eq!(Answer::length(b"HTTP/1."), None);
    }
}
