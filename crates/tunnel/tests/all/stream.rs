//! Streams over transports with large, small and irregular buffers.

use std::future::poll_fn;
use std::io;
use std::pin::{Pin, pin};
use std::task::{Context, Poll};
use std::time::Duration;

use groupwire_ace::{Candidate, Settings, StreamError};
use groupwire_codecs::Costs;
use groupwire_tunnel::{Stream, Workbench};
use tokio::io::{
    AsyncBufReadExt, AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, DuplexStream, ReadBuf,
    duplex, split,
};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::{sleep, timeout};

use crate::support::{in_time, mixed};

fn settings() -> Settings {
    Settings::adaptive(Costs::reference())
}

fn stream<S: AsyncRead + AsyncWrite + Unpin>(transport: S, settings: &Settings) -> Stream<S> {
    Stream::new(transport, settings, &Workbench::new()).unwrap()
}

fn pair(buffer: usize) -> (Stream<DuplexStream>, Stream<DuplexStream>) {
    let (here, there) = duplex(buffer);
    (stream(here, &settings()), stream(there, &settings()))
}

async fn tcp() -> (TcpStream, TcpStream) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let here = TcpStream::connect(listener.local_addr().unwrap());
    let (here, there) = tokio::join!(here, listener.accept());
    (here.unwrap(), there.unwrap().0)
}

fn cause(error: &io::Error) -> &StreamError {
    error.get_ref().and_then(|cause| cause.downcast_ref()).unwrap()
}

#[tokio::test]
async fn every_candidate_delivers_what_was_written() {
    let bytes = mixed(700_000, 1);
    for name in ["none", "lz4", "zstd-3+history", "zlib", "lzo", "bzip2", "zstd-19"] {
        let (here, there) = duplex(10_000);
        let settings = Settings::always(name.parse().unwrap());
        let (mut here, mut there) = (stream(here, &settings), stream(there, &settings));
        let sending = bytes.clone();
        let sender = tokio::spawn(async move {
            here.write_all(&sending).await.unwrap();
            here.shutdown().await.unwrap();
            assert_eq!(here.read_u8().await.unwrap_err().kind(), io::ErrorKind::UnexpectedEof);
            here.report()
        });
        let mut received = Vec::new();
        in_time(there.read_to_end(&mut received)).await.unwrap();
        assert!(received == bytes, "{name}");
        in_time(there.shutdown()).await.unwrap();
        let report = in_time(sender).await.unwrap();
        assert_eq!(report.plain_out, bytes.len() as u64);
        assert_eq!(there.report().plain_in, bytes.len() as u64);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn four_tasks_saturate_both_directions() {
    for buffer in [64, 5000, 1 << 20] {
        let (here, there) = pair(buffer);
        let length = if buffer == 64 { 600_000 } else { 4_000_000 };
        let tasks = [(here, 1), (there, 2)].map(|(stream, seed)| {
            let (mut reader, mut writer) = split(stream);
            let writing = tokio::spawn(async move {
                writer.write_all(&mixed(length, seed)).await.unwrap();
                writer.shutdown().await.unwrap();
            });
            let reading = tokio::spawn(async move {
                let mut received = Vec::new();
                reader.read_to_end(&mut received).await.unwrap();
                assert!(received == mixed(length, 3 - seed));
            });
            [writing, reading]
        });
        for task in tasks.into_iter().flatten() {
            in_time(task).await.unwrap();
        }
    }
}

#[tokio::test]
async fn a_direction_goes_on_while_the_other_one_is_not_read() {
    let (mut here, there) = pair(20_000);
    let (mut reader, mut writer) = split(there);
    let bytes = mixed(3_000_000, 5);
    let to_send = bytes.clone();
    let blocked = tokio::spawn(async move {
        writer.write_all(&to_send).await.unwrap();
        writer.shutdown().await.unwrap();
    });
    let expected = bytes.clone();
    let reading = tokio::spawn(async move {
        let mut received = Vec::new();
        reader.read_to_end(&mut received).await.unwrap();
        assert!(received == expected);
    });
    // This end reads nothing before it has written everything, and the other end writes more than
    // all buffers hold.
    in_time(here.write_all(&bytes)).await.unwrap();
    in_time(here.shutdown()).await.unwrap();
    let mut received = Vec::new();
    in_time(here.read_to_end(&mut received)).await.unwrap();
    assert!(received == bytes);
    in_time(blocked).await.unwrap();
    in_time(reading).await.unwrap();
}

#[tokio::test]
async fn a_flush_delivers_an_incomplete_block() {
    let (mut here, mut there) = pair(1000);
    let answering = tokio::spawn(async move {
        let mut question = [0; 5];
        while there.read_exact(&mut question).await.is_ok() {
            there.write_all(&question).await.unwrap();
            there.flush().await.unwrap();
        }
    });
    for round in 0..200_u32 {
        let question = format!("{round:05}");
        here.write_all(question.as_bytes()).await.unwrap();
        here.flush().await.unwrap();
        here.flush().await.unwrap();
        let mut answer = [0; 5];
        in_time(here.read_exact(&mut answer)).await.unwrap();
        assert_eq!(answer, question.as_bytes());
    }
    drop(here);
    in_time(answering).await.unwrap();
}

#[tokio::test]
async fn closing_one_direction_leaves_the_other_open() {
    let (here, there) = tcp().await;
    let (mut here, mut there) = (stream(here, &settings()), stream(there, &settings()));
    let bytes = mixed(2_000_000, 6);
    let expected = bytes.clone();
    let answering = tokio::spawn(async move {
        let mut question = String::new();
        there.read_to_string(&mut question).await.unwrap();
        assert_eq!(question, "all of it, please");
        there.write_all(&bytes).await.unwrap();
        there.shutdown().await.unwrap();
    });
    here.write_all(b"all of it, please").await.unwrap();
    here.shutdown().await.unwrap();
    assert_eq!(here.write(b"more").await.unwrap_err().kind(), io::ErrorKind::BrokenPipe);
    let mut received = Vec::new();
    in_time(here.read_to_end(&mut received)).await.unwrap();
    assert!(received == expected);
    in_time(here.shutdown()).await.unwrap();
    in_time(answering).await.unwrap();
}

#[tokio::test]
async fn cancelled_operations_can_be_repeated() {
    let (mut here, mut there) = pair(3000);
    let bytes = mixed(500_000, 7);
    let expected = bytes.clone();
    let reading = tokio::spawn(async move {
        let (mut received, mut piece) = (Vec::new(), [0; 4000]);
        loop {
            // A read that is cancelled must not lose bytes.
            let Some(read) = polled_twice(there.read(&mut piece)).await else { continue };
            match read.unwrap() {
                0 => break,
                read => received.extend_from_slice(&piece[..read]),
            }
        }
        assert!(received == expected);
        there.shutdown().await.unwrap();
    });
    let mut rest = &bytes[..];
    let work = async {
        while !rest.is_empty() {
            if let Some(written) = polled_twice(here.write(rest)).await {
                rest = &rest[written.unwrap()..];
            }
            polled_twice(here.flush()).await;
        }
        while polled_twice(here.shutdown()).await.is_none() {}
        assert_eq!(here.read(&mut [0; 10]).await.unwrap(), 0);
    };
    in_time(work).await;
    in_time(reading).await.unwrap();
}

/// Polls a future at most twice and cancels it if it is still pending.
async fn polled_twice<T>(future: impl Future<Output = T>) -> Option<T> {
    let mut future = pin!(future);
    let mut polled = 0;
    poll_fn(|cx| {
        polled += 1;
        match future.as_mut().poll(cx) {
            Poll::Ready(value) => Poll::Ready(Some(value)),
            Poll::Pending if polled == 2 => Poll::Ready(None),
            Poll::Pending => {
                cx.waker().wake_by_ref();
                Poll::Pending
            }
        }
    })
    .await
}

#[tokio::test]
async fn a_peer_that_vanishes_is_an_error_after_the_received_bytes() {
    let (mut here, mut there) = pair(200_000);
    here.write_all(b"and then").await.unwrap();
    here.flush().await.unwrap();
    drop(here);
    let mut received = Vec::new();
    let error = in_time(there.read_to_end(&mut received)).await.unwrap_err();
    assert_eq!(
        (error.kind(), cause(&error)),
        (io::ErrorKind::UnexpectedEof, &StreamError::Truncated)
    );
    assert_eq!(received, b"and then");
    // Reading and writing keep failing.
    assert_eq!(there.read(&mut [0; 1]).await.unwrap_err().kind(), io::ErrorKind::UnexpectedEof);
    assert!(there.write_all(b"anything").await.is_err() || there.flush().await.is_err());
}

#[tokio::test]
async fn writing_to_a_peer_that_has_gone_fails() {
    let (mut here, mut there) = pair(4000);
    there.shutdown().await.unwrap();
    drop(there);
    let mut received = Vec::new();
    in_time(here.read_to_end(&mut received)).await.unwrap();
    let bytes = mixed(1_000_000, 8);
    let error = in_time(here.write_all(&bytes)).await.unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::BrokenPipe);
}

#[tokio::test]
async fn bytes_that_are_no_stream_are_an_error() {
    for (bytes, is_hello) in [
        (&b"HTTP/1.1 400 Bad Request\r\n\r\n"[..], false),
        (b"GWA\x01\xff\xff\x14\x14\xff\xff\xff\xff\xff", true),
        (b"GWA\x01\xff\xff\x14\x14\x01\x05\x00\x00lies!", true),
        (b"GWA\x01\xff\xff\x14\x14\x01\xff\xff\xff and a bomb", true),
    ] {
        let (mut there, here) = duplex(1000);
        let mut here = stream(here, &settings());
        there.write_all(bytes).await.unwrap();
        let error = in_time(here.read(&mut [0; 100])).await.unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::InvalidData, "{error}");
        assert_eq!(matches!(cause(&error), StreamError::NoPeer), !is_hello);
        let error = in_time(here.flush()).await.unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::InvalidData);
    }
}

#[tokio::test]
async fn lines_are_read_through_the_buffered_interface() {
    let (mut here, mut there) = pair(1000);
    here.write_all(b"one\ntwo\nthree").await.unwrap();
    here.shutdown().await.unwrap();
    let mut line = String::new();
    while in_time(there.read_line(&mut line)).await.unwrap() > 0 {}
    assert_eq!(line, "one\ntwo\nthree");
}

#[tokio::test]
async fn an_idle_stream_releases_memory_and_continues() {
    let (mut here, mut there) = pair(100_000);
    let bytes = mixed(400_000, 9);
    for _ in 0..2 {
        let (sent, received) = tokio::join!(
            async {
                here.write_all(&bytes).await?;
                here.flush().await
            },
            async {
                let mut received = vec![0; bytes.len()];
                there.read_exact(&mut received).await.map(|_| received)
            }
        );
        sent.unwrap();
        assert!(received.unwrap() == bytes);
        let busy = there.report().memory;
        assert!(busy > 30_000, "{busy}");
        for _ in 0..100 {
            let waiting = Duration::from_millis(100);
            let (one, two) = (&mut [0; 1], &mut [0; 1]);
            let both = async { tokio::join!(here.read(one), there.read(two)) };
            assert!(timeout(waiting, both).await.is_err());
            if here.report().memory.max(there.report().memory) < 10_000 {
                break;
            }
        }
        let idle = (here.report().memory, there.report().memory);
        assert!(idle.0 < 10_000 && idle.1 < 10_000, "{idle:?}");
    }
}

/// A transport that moves a few bytes at a time and is pending on every third call.
struct Irregular<S> {
    inner: S,
    calls: usize,
}

impl<S> Irregular<S> {
    /// Counts the call; on every third one wakes the task and returns false.
    fn is_ready(&mut self, cx: &Context<'_>) -> bool {
        self.calls += 1;
        let is_pending = self.calls.is_multiple_of(3);
        if is_pending {
            cx.waker().wake_by_ref();
        }
        !is_pending
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Irregular<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        if !self.is_ready(cx) {
            return Poll::Pending;
        }
        let mut few = [0; 7];
        let mut few = ReadBuf::new(&mut few[..buf.remaining().min(7)]);
        let outcome = Pin::new(&mut self.inner).poll_read(cx, &mut few);
        buf.put_slice(few.filled());
        outcome
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Irregular<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        if !self.is_ready(cx) {
            return Poll::Pending;
        }
        let few = bytes.len().min(5);
        Pin::new(&mut self.inner).poll_write(cx, &bytes[..few])
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        if !self.is_ready(cx) {
            return Poll::Pending;
        }
        Pin::new(&mut self.inner).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.inner).poll_shutdown(cx)
    }
}

#[tokio::test]
async fn an_irregular_transport_delivers_everything() {
    let (here, there) = duplex(100);
    let [here, there] = [here, there].map(|inner| {
        let settings = Settings { block: 2000, history: 4096, ..Settings::always(zstd()) };
        stream(Irregular { inner, calls: 0 }, &settings)
    });
    let echo = tokio::spawn(async move {
        let (mut reader, mut writer) = split(there);
        tokio::io::copy(&mut reader, &mut writer).await.unwrap();
        writer.shutdown().await.unwrap();
    });
    let (mut reader, mut writer) = split(here);
    let writing = tokio::spawn(async move {
        writer.write_all(&mixed(60_000, 10)).await.unwrap();
        sleep(Duration::from_millis(1)).await;
        writer.shutdown().await.unwrap();
    });
    let mut received = Vec::new();
    in_time(reader.read_to_end(&mut received)).await.unwrap();
    assert!(received == mixed(60_000, 10));
    in_time(writing).await.unwrap();
    in_time(echo).await.unwrap();
}

fn zstd() -> Candidate {
    "zstd-1+history".parse().unwrap()
}
