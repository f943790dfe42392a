//! The transport of a tunnel's connecting end. It reads the answer of the listening end, which
//! precedes the stream.

use std::future::poll_fn;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use crate::error::ConnectionError;
use crate::policy::Permission;
use crate::preface::{ANSWER_HEAD, Answer};

/// A transport on which the request was sent and the answer is still expected. The stream is
/// written right behind the request, which saves a round trip; the answer is taken out of the bytes
/// that are read.
///
/// If the listening end refuses, reading fails with an [`io::Error`] that contains a
/// [`ConnectionError`].
#[derive(Debug)]
pub(crate) struct Answered<T> {
    transport: T,
    peer: String,
    /// The bytes of the answer that have arrived.
    arrived: Vec<u8>,
    /// Receives what the answer says about compression; `None` once the answer is complete.
    permission: Option<Permission>,
}

impl<T> Answered<T> {
    /// Wraps the transport to `peer`, an address for error messages.
    pub(crate) fn new(transport: T, peer: String, permission: Permission) -> Self {
        Answered { transport, peer, arrived: Vec::new(), permission: Some(permission) }
    }
}

impl<T: AsyncRead + Unpin> Answered<T> {
    /// Waits for the answer.
    ///
    /// # Errors
    /// A refusal, as a [`ConnectionError`] within the error, or a transport that fails.
    pub(crate) async fn answer(&mut self) -> io::Result<()> {
        poll_fn(|cx| self.poll_answer(cx)).await
    }

    fn poll_answer(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        while let Some(permission) = &self.permission {
            let due = match self.arrived.first_chunk() {
                None => ANSWER_HEAD,
                Some(head) => match Answer::length(head) {
                    Some(length) => length,
                    None => return Poll::Ready(Err(self.no_tunnel())),
                },
            };
            if self.arrived.len() == due {
                match Answer::parse(&self.arrived) {
                    Some(Answer::Go { never }) => {
                        if never {
                            permission.deny();
                        }
                        permission.answered();
                        (self.permission, self.arrived) = (None, Vec::new());
                        break;
                    }
                    Some(Answer::Refused(refusal)) => {
                        let refused = ConnectionError::Refused(refusal);
                        return Poll::Ready(Err(io::Error::other(refused)));
                    }
                    None => return Poll::Ready(Err(self.no_tunnel())),
                }
            }
            let mut bytes = [0; ANSWER_HEAD + u8::MAX as usize];
            let mut buf = ReadBuf::new(&mut bytes[..due - self.arrived.len()]);
            ready!(Pin::new(&mut self.transport).poll_read(cx, &mut buf))?;
            if buf.filled().is_empty() {
                return Poll::Ready(Err(self.no_tunnel()));
            }
            self.arrived.extend_from_slice(buf.filled());
        }
        Poll::Ready(Ok(()))
    }

    fn no_tunnel(&self) -> io::Error {
        io::Error::other(ConnectionError::NoTunnel(self.peer.clone()))
    }
}

impl<T: AsyncRead + Unpin> AsyncRead for Answered<T> {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        ready!(this.poll_answer(cx))?;
        Pin::new(&mut this.transport).poll_read(cx, buf)
    }
}

impl<T: AsyncWrite + Unpin> AsyncWrite for Answered<T> {
    fn poll_write(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.get_mut().transport).poll_write(cx, bytes)
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().transport).poll_flush(cx)
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().transport).poll_shutdown(cx)
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};

    use super::*;
    use crate::preface::{Reason, Refusal};

    /// Feeds an `Answered` byte by byte and returns what it reads after the answer.
    async fn read(bytes: &[u8]) -> (io::Result<Vec<u8>>, Permission) {
        let (mut there, here) = tokio::io::duplex(1);
        let permission = Permission::default();
        let mut answered = Answered::new(here, "there".to_owned(), permission.clone());
        let bytes = bytes.to_vec();
        tokio::spawn(async move { there.write_all(&bytes).await });
        let mut received = Vec::new();
        let outcome = answered.read_to_end(&mut received).await;
        (outcome.map(|_| received), permission)
    }

    #[tokio::test]
    async fn bytes_after_the_answer_belong_to_the_stream() {
        for never in [false, true] {
            let bytes = [&Answer::Go { never }.to_bytes()[..], b"the stream"].concat();
            let (received, permission) = read(&bytes).await;
            assert_eq!(received.unwrap(), b"the stream");
            assert_eq!((permission.is_answered(), permission.is_denied()), (true, never));
        }
    }

    #[tokio::test]
    async fn a_refusal_gives_its_message_and_other_bytes_are_no_tunnel() {
        let refusal = Refusal::new(Reason::Token, "wrong token");
        let (received, permission) = read(&Answer::Refused(refusal).to_bytes()).await;
        assert!(received.unwrap_err().to_string().contains("refused: wrong token"));
        assert!(!permission.is_answered());
        for bytes in [&b"HTTP/1.1 400 Bad Request\r\n\r\n"[..], b"GWT", b"GWT\x02\0\0\0", b""] {
            let (received, _) = read(bytes).await;
            assert!(received.unwrap_err().to_string().contains("no groupwire tunnel"));
        }
    }
}
