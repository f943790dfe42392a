//! Notices that nothing happens on an HTTP connection: it is idle, or its client does not read a
//! response.

use std::io::{self, IoSlice};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;

use axum::body::{Body, Bytes, HttpBody};
use hyper::body::{Frame, SizeHint};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Instant, sleep};

/// When something last happened on one connection.
pub(crate) struct Activity {
    began: Instant,
    /// When bytes were written last, or a response was last waited for: milliseconds since `began`.
    last: AtomicU64,
    /// Responses whose next bytes the server itself has yet to make, such as held requests.
    waiting: AtomicUsize,
}

impl Activity {
    pub(crate) fn new() -> Arc<Self> {
        let (last, waiting) = (AtomicU64::new(0), AtomicUsize::new(0));
        Arc::new(Activity { began: Instant::now(), last, waiting })
    }

    /// Waits until nothing was written for `limit`, and no response waited for the server. Up to
    /// twice as long passes.
    pub(crate) async fn quiet(&self, limit: Duration) {
        while let Some(left) = self.left(Instant::now(), limit) {
            sleep(left).await;
        }
    }

    /// The time until the connection can become quiet; `None` if it is quiet.
    fn left(&self, now: Instant, limit: Duration) -> Option<Duration> {
        let last = Duration::from_millis(self.last.load(Ordering::Relaxed));
        let left = limit.saturating_sub((now - self.began).saturating_sub(last));
        let is_waiting = self.waiting.load(Ordering::Relaxed) > 0;
        match left.is_zero() {
            true => is_waiting.then_some(limit),
            false => Some(left),
        }
    }

    /// Records that something happened.
    pub(crate) fn touch(&self) {
        self.touch_at(Instant::now());
    }

    fn touch_at(&self, now: Instant) {
        self.last.store((now - self.began).as_millis() as u64, Ordering::Relaxed);
    }

    /// Records that the server makes a response, until the result is dropped.
    pub(crate) fn wait(self: &Arc<Self>) -> Waiting {
        self.waiting.fetch_add(1, Ordering::Relaxed);
        Waiting(Arc::clone(self))
    }
}

/// The server is making a response or its next bytes until this is dropped.
pub(crate) struct Waiting(Arc<Activity>);

impl Drop for Waiting {
    fn drop(&mut self) {
        self.0.touch();
        self.0.waiting.fetch_sub(1, Ordering::Relaxed);
    }
}

/// The socket of a connection.
pub(crate) struct WatchedSocket<S> {
    socket: S,
    activity: Arc<Activity>,
}

impl<S> WatchedSocket<S> {
    pub(crate) fn new(socket: S, activity: Arc<Activity>) -> Self {
        WatchedSocket { socket, activity }
    }

    pub(crate) fn into_inner(self) -> S {
        self.socket
    }

    fn touch_if_written(&self, written: Poll<io::Result<usize>>) -> Poll<io::Result<usize>> {
        if let Poll::Ready(Ok(1..)) = written {
            self.activity.touch();
        }
        written
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for WatchedSocket<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.socket).poll_read(cx, buffer)
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for WatchedSocket<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.socket).poll_write(cx, bytes);
        self.touch_if_written(written)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        parts: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.socket).poll_write_vectored(cx, parts);
        self.touch_if_written(written)
    }

    fn is_write_vectored(&self) -> bool {
        self.socket.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.socket).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.socket).poll_shutdown(cx)
    }
}

/// The body of a response. It waits for the server between a poll without a frame and the next
/// frame; otherwise for the client.
pub(crate) struct WatchedBody {
    body: Body,
    activity: Arc<Activity>,
    waiting: Option<Waiting>,
}

impl WatchedBody {
    pub(crate) fn new(body: Body, activity: Arc<Activity>) -> Self {
        WatchedBody { body, activity, waiting: None }
    }
}

impl HttpBody for WatchedBody {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        let frame = Pin::new(&mut self.body).poll_frame(cx);
        if frame.is_ready() {
            self.waiting = None;
        } else if self.waiting.is_none() {
            self.waiting = Some(self.activity.wait());
        }
        frame
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use futures_util::FutureExt;

    const LIMIT: Duration = Duration::from_secs(30);

    #[test]
    fn a_connection_is_quiet_when_nothing_was_written_and_the_server_owes_nothing() {
        let activity = Activity::new();
        let at = |limits: f64| activity.began + LIMIT.mul_f64(limits);
        assert_eq!(activity.left(at(0.5), LIMIT), Some(LIMIT / 2));
        assert_eq!(activity.left(at(1.0), LIMIT), None);
        activity.touch_at(at(0.5));
        assert_eq!(activity.left(at(1.0), LIMIT), Some(LIMIT / 2), "something was written");
        let held = activity.wait();
        assert_eq!(activity.left(at(9.0), LIMIT), Some(LIMIT), "a request is held");
        drop(held);
        assert_eq!(activity.left(at(9.0), LIMIT), None);
    }

    #[tokio::test]
    async fn a_body_waits_for_the_server_until_its_next_frame() {
        let activity = Activity::new();
        let (sender, frames) = tokio::sync::mpsc::channel::<Bytes>(1);
        let frames = futures_util::stream::unfold(frames, async |mut frames| {
            let frame = frames.recv().await?;
            Some((Ok::<_, axum::Error>(frame), frames))
        });
        let mut body = WatchedBody::new(Body::from_stream(frames), Arc::clone(&activity));
        let waiting = || activity.waiting.load(Ordering::Relaxed);
        use http_body_util::BodyExt;
        assert!(body.frame().now_or_never().is_none());
        assert_eq!(waiting(), 1);
        assert!(body.frame().now_or_never().is_none());
        assert_eq!(waiting(), 1);
        sender.send(Bytes::from_static(b"x")).await.unwrap();
        assert!(body.frame().await.is_some());
        assert_eq!(waiting(), 0);
        assert!(body.frame().now_or_never().is_none());
        drop(body);
        assert_eq!(waiting(), 0);
    }
}
