//! Delays reading from a transport while its participant is above a quota, at the request of the
//! room (wire W99). TCP, QUIC or HTTP then slow the client down.

use std::sync::{Mutex, PoisonError};

use tokio::time::{Instant, sleep_until};

/// See the [module](self). The room's task sets it, and the connection's task heeds it before it
/// reads.
#[derive(Debug, Default)]
pub(crate) struct Brake(Mutex<Option<Instant>>);

impl Brake {
    /// Nothing is to be read before this time.
    pub(crate) fn hold(&self, until: Instant) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(until);
    }

    /// Done when the transport may be read.
    pub(crate) async fn released(&self) {
        while let Some(until) = self.until() {
            // Boxed, so that an idle connection does not hold memory for a timer.
            Box::pin(sleep_until(until)).await;
        }
    }

    fn until(&self) -> Option<Instant> {
        let mut until = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        *until = until.filter(|until| *until > Instant::now());
        *until
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn w99_nothing_is_read_before_the_time_that_the_room_named_last() {
        let (brake, start) = (Brake::default(), Instant::now());
        brake.released().await;
        assert_eq!(start.elapsed(), Duration::ZERO);
        brake.hold(start + Duration::from_secs(1));
        let later = async {
            sleep_until(start + Duration::from_millis(500)).await;
            brake.hold(start + Duration::from_millis(1200));
        };
        tokio::join!(brake.released(), later);
        assert!(start.elapsed() >= Duration::from_millis(1200));
        brake.released().await;
        assert!(start.elapsed() < Duration::from_millis(1300));
    }
}
