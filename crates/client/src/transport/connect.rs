//! Opens TCP connections.

use std::future::Future;
use std::io;
use std::time::Duration;

use futures_util::StreamExt;
use futures_util::stream::FuturesUnordered;
use tokio::net::TcpStream;
use tokio::time::sleep;

use crate::address::Address;

/// An attempt that has had no answer for this long gets another one beside it. TCP itself sends its first packet again after 1 s, and
/// then only after 3 and 7 s, as when a server that many clients come back to has dropped it, or when a network is back that was away.
/// Networks whose answers take longer are rare, and there the first attempt goes on.
const NEXT_ATTEMPT: Duration = Duration::from_millis(2500);

/// Opens a TCP connection to the server.
pub(super) async fn connect(address: &Address) -> io::Result<TcpStream> {
    let stream = first_of(|| TcpStream::connect((address.host.as_str(), address.port))).await?;
    // Packets are complete when they are sent: Nagle's algorithm would only delay them.
    stream.set_nodelay(true)?;
    Ok(stream)
}

/// The first success of several attempts, which begin one after the other while there is no answer, or the first failure. The caller
/// bounds the time.
async fn first_of<T, F: Future<Output = io::Result<T>>>(
    mut attempt: impl FnMut() -> F,
) -> io::Result<T> {
    let mut attempts = FuturesUnordered::new();
    loop {
        attempts.push(attempt());
        tokio::select! {
            Some(outcome) = attempts.next() => return outcome,
            () = sleep(NEXT_ATTEMPT) => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::future::pending;

    use tokio::time::Instant;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn while_there_is_no_answer_other_attempts_begin_beside_the_first() {
        let (begun, began) = (Cell::new(0), Instant::now());
        let attempt = || {
            begun.set(begun.get() + 1);
            let number = begun.get();
            async move {
                match number {
                    3 => Ok(number),
                    _ => pending().await,
                }
            }
        };
        assert_eq!(first_of(attempt).await.unwrap(), 3);
        assert_eq!(began.elapsed(), NEXT_ATTEMPT * 2);
    }

    #[tokio::test(start_paused = true)]
    async fn an_answer_that_is_slow_counts() {
        let slow = NEXT_ATTEMPT + NEXT_ATTEMPT / 2;
        let (begun, began) = (Cell::new(0), Instant::now());
        let attempt = || {
            begun.set(begun.get() + 1);
            let number = begun.get();
            async move {
                sleep(slow).await;
                Ok(number)
            }
        };
        assert_eq!(first_of(attempt).await.unwrap(), 1, "the first attempt");
        assert_eq!((began.elapsed(), begun.get()), (slow, 2));
    }

    #[tokio::test(start_paused = true)]
    async fn a_refusal_is_told_at_once() {
        let refused = || async { Err::<(), _>(io::ErrorKind::ConnectionRefused.into()) };
        let began = Instant::now();
        assert_eq!(first_of(refused).await.unwrap_err().kind(), io::ErrorKind::ConnectionRefused);
        assert_eq!(began.elapsed(), Duration::ZERO);
    }
}
