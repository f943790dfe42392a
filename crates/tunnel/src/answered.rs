//! The connecting end's transport: the answer comes first on it.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use crate::error::ConnectionError;
use crate::policy::Permission;
use crate::preface::{ANSWER_HEAD, Answer};

/// A transport to which the request was written, and whose answer is still to come. So what follows the request goes
/// out at once, and a round trip is saved.
///
/// A refusal is an error of reading, with a [`ConnectionError`] inside.
#[derive(Debug)]
pub(crate) struct Answered<T> {
    transport: T,
    peer: String,
    /// The answer as far as it came.
    came: Vec<u8>,
    /// Whom to tell what it says, until it has come.
    permission: Option<Permission>,
}

impl<T> Answered<T> {
    /// The answer says whether bytes may be packed.
    pub(crate) fn new(transport: T, peer: String, permission: Permission) -> Self {
        Answered { transport, peer, came: Vec::new(), permission: Some(permission) }
    }
}

impl<T: AsyncRead + Unpin> Answered<T> {
    fn poll_answer(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        while let Some(permission) = &self.permission {
            let due = match self.came.first_chunk() {
                None => ANSWER_HEAD,
                Some(head) => match Answer::length(head) {
                    Some(length) => length,
                    None => return Poll::Ready(Err(self.no_tunnel())),
                },
            };
            if self.came.len() == due {
                match Answer::parse(&self.came) {
                    Some(Answer::Go { never }) => {
                        if never {
                            permission.deny();
                        }
                        permission.answered();
                        (self.permission, self.came) = (None, Vec::new());
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
            let mut buf = ReadBuf::new(&mut bytes[..due - self.came.len()]);
            ready!(Pin::new(&mut self.transport).poll_read(cx, &mut buf))?;
            if buf.filled().is_empty() {
                return Poll::Ready(Err(self.no_tunnel()));
            }
            self.came.extend_from_slice(buf.filled());
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

    /// Reads an answer that comes byte by byte, and what comes after it.
    async fn read(bytes: &[u8]) -> (io::Result<Vec<u8>>, Permission) {
        let (mut there, here) = tokio::io::duplex(1);
        let permission = Permission::default();
        let mut answered = Answered::new(here, "there".to_owned(), permission.clone());
        let bytes = bytes.to_vec();
        tokio::spawn(async move { there.write_all(&bytes).await });
        let mut came = Vec::new();
        let outcome = answered.read_to_end(&mut came).await;
        (outcome.map(|_| came), permission)
    }

    #[tokio::test]
    async fn what_follows_the_answer_is_the_stream() {
        for never in [false, true] {
            let bytes = [&Answer::Go { never }.to_bytes()[..], b"the stream"].concat();
            let (came, permission) = read(&bytes).await;
            assert_eq!(came.unwrap(), b"the stream");
            assert_eq!((permission.is_answered(), permission.is_denied()), (true, never));
        }
    }

    #[tokio::test]
    async fn a_refusal_is_told_in_words_and_anything_else_is_no_tunnel() {
        let refusal = Refusal::new(Reason::Token, "wrong token");
        let (came, permission) = read(&Answer::Refused(refusal).to_bytes()).await;
        assert!(came.unwrap_err().to_string().contains("refused: wrong token"));
        assert!(!permission.is_answered());
        for bytes in [&b"HTTP/1.1 400 Bad Request\r\n\r\n"[..], b"GWT", b"GWT\x02\0\0\0", b""] {
            let (came, _) = read(bytes).await;
            assert!(came.unwrap_err().to_string().contains("no groupwire tunnel"));
        }
    }
}
