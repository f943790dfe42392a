//! Sends spans to the receiver of traces.

use std::sync::atomic::{AtomicBool, Ordering};

use async_trait::async_trait;
use http_body_util::Full;
use opentelemetry_http::{Bytes, HttpClient, HttpError, Request, Response};
use tokio::runtime::Handle;

use crate::tools::fetch::Fetcher;

/// The largest answer, in bytes: it says at most which spans were refused.
const LARGEST_ANSWER: usize = 64 << 10;

/// A client of the receiver of traces, for the thread that sends them.
#[derive(Debug)]
pub(super) struct Collector {
    fetcher: Fetcher,
    /// The runtime of the requests: the thread that sends spans has none.
    runtime: Handle,
    /// True if the last request failed.
    is_failing: AtomicBool,
}

impl Collector {
    /// # Errors
    /// There is no Tokio runtime.
    pub(super) fn new(fetcher: Fetcher) -> Result<Self, String> {
        let runtime = Handle::try_current().map_err(|error| error.to_string())?;
        Ok(Collector { fetcher, runtime, is_failing: AtomicBool::new(false) })
    }

    /// Logs once that traces are lost, and once that they are sent again.
    fn log_outcome(&self, failure: Option<&str>) {
        if !self.changes(failure.is_some()) {
            return;
        }
        match failure {
            Some(why) => {
                tracing::warn!(why, "traces cannot be sent; spans are lost until they can")
            }
            None => tracing::info!("traces are sent again"),
        }
    }

    /// Records whether a request failed. Returns true if the request before had the other outcome.
    fn changes(&self, is_failing: bool) -> bool {
        self.is_failing.swap(is_failing, Ordering::Relaxed) != is_failing
    }
}

#[async_trait]
impl HttpClient for Collector {
    async fn send_bytes(&self, request: Request<Bytes>) -> Result<Response<Bytes>, HttpError> {
        let fetcher = self.fetcher.clone();
        let request = request.map(Full::from);
        let sending = async move { fetcher.send(request, LARGEST_ANSWER).await };
        match self.runtime.spawn(sending).await? {
            Ok((status, body)) => {
                let failure = (!status.is_success()).then(|| format!("the answer is {status}"));
                self.log_outcome(failure.as_deref());
                let mut response = Response::new(body);
                *response.status_mut() = status;
                Ok(response)
            }
            Err(why) => {
                self.log_outcome(Some(&why));
                Err(why.into())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[tokio::test]
    async fn each_change_is_told_once() {
        let collector =
            Collector::new(Fetcher::new(None, true, Duration::from_secs(4)).unwrap()).unwrap();
        let told = [false, true, true, true, false, false, true].map(|it| collector.changes(it));
        assert_eq!(told, [false, true, false, false, true, false, true]);
    }
}
