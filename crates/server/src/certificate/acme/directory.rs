//! Requests to an ACME directory.

use std::future::Future;
use std::path::Path;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use axum::body::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::header::{HeaderMap, HeaderValue, RETRY_AFTER, USER_AGENT};
use hyper::{Request, StatusCode};
use instant_acme::{BodyWrapper, BytesResponse, Error, HttpClient};

use crate::tools::fetch::Fetcher;

/// How long a request may take in all. Authorities that are busy take several seconds.
const DEADLINE: Duration = Duration::from_secs(30);

/// The largest answer in bytes: a chain of certificates has some 6 KB.
const LARGEST_ANSWER: usize = 256 << 10;

/// The longest `Retry-After` that is respected. Honest directories need no longer one, and a faulty
/// one must not keep the server from renewing.
const LONGEST_WAIT: Duration = Duration::from_secs(24 * 3600);

/// What RFC 8555, section 6.1, wants in `User-Agent`: the program, and the library that it uses.
const AGENT: &str = concat!("groupwire/", env!("CARGO_PKG_VERSION"), " instant-acme");

/// Sends requests to a directory, over HTTPS only, and remembers the `Retry-After` of its last
/// refusal.
#[derive(Debug, Clone)]
pub(super) struct Directory {
    fetcher: Fetcher,
    wait: Arc<Mutex<Option<Duration>>>,
}

impl Directory {
    /// Trusts the certificates that the system trusts, and those in the PEM file `root`.
    ///
    /// # Errors
    /// What is wrong with the file, or with the system's certificates.
    pub(super) fn new(root: Option<&Path>) -> Result<Self, String> {
        let fetcher = Fetcher::new(root, false, DEADLINE)?;
        Ok(Directory { fetcher, wait: Arc::default() })
    }

    /// Takes the `Retry-After` of the directory's last refusal.
    pub(super) fn take_wait(&self) -> Option<Duration> {
        self.wait.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

impl HttpClient for Directory {
    fn request(
        &self,
        request: Request<BodyWrapper<Bytes>>,
    ) -> Pin<Box<dyn Future<Output = Result<BytesResponse, Error>> + Send>> {
        let Directory { fetcher, wait } = self.clone();
        Box::pin(async move {
            let (mut head, body) = request.into_parts();
            head.headers.insert(USER_AGENT, HeaderValue::from_static(AGENT));
            let body = match body.collect().await {
                Ok(body) => body.to_bytes(),
                Err(never) => match never {},
            };
            let request = Request::from_parts(head, Full::new(body));
            let answer = fetcher.exchange(request, LARGEST_ANSWER).await;
            let answer = answer.map_err(|why| Error::Other(why.into()))?;
            if [StatusCode::TOO_MANY_REQUESTS, StatusCode::SERVICE_UNAVAILABLE]
                .contains(&answer.status())
            {
                *wait.lock().unwrap_or_else(PoisonError::into_inner) = wanted(answer.headers());
            }
            Ok(BytesResponse::from(answer.map(Full::new)))
        })
    }
}

/// The time in `Retry-After`. A date in it is ignored; then the usual pause applies.
fn wanted(headers: &HeaderMap) -> Option<Duration> {
    let seconds = headers.get(RETRY_AFTER)?.to_str().ok()?.trim().parse().ok()?;
    Some(Duration::from_secs(seconds).min(LONGEST_WAIT))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_that_a_directory_asks_for_is_bounded() {
        let wanted = |text: &'static str| {
            let value = HeaderValue::from_static(text);
            wanted(&HeaderMap::from_iter([(RETRY_AFTER, value)]))
        };
        assert_eq!(wanted(" 7200 "), Some(Duration::from_secs(7200)));
        assert_eq!(wanted("99999999999"), Some(LONGEST_WAIT));
        assert_eq!(wanted("Fri, 31 Dec 1999 23:59:59 GMT"), None);
        assert_eq!(super::wanted(&HeaderMap::new()), None);
    }
}
