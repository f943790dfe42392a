//! Requests to servers that the configuration names, over HTTPS. Redirects are not followed.

use std::path::Path;
use std::time::Duration;

use axum::body::Bytes;
use http_body_util::{BodyExt, Full, Limited};
use hyper::{Request, Response, StatusCode, Uri};
use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder};
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;
use rustls::RootCertStore;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use tokio::time::timeout;

/// An address that requests may go to: `https://`, or `http://` on this machine.
#[derive(Debug, Clone)]
pub(crate) struct Address {
    pub(crate) uri: Uri,
    is_here: bool,
}

impl Address {
    /// # Errors
    /// What is wrong with the text, for the operator.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let uri: Uri = text.parse().map_err(|_| format!("{text} is no address"))?;
        let is_here = matches!(uri.host(), Some("localhost" | "127.0.0.1" | "[::1]"));
        match uri.scheme_str() {
            Some("https") => {}
            Some("http") if is_here => {}
            _ => return Err(format!("{text}: use https://, or http:// on this machine")),
        }
        Ok(Address { uri, is_here })
    }

    /// A client for requests to this address. See [`Fetcher::new`].
    ///
    /// # Errors
    /// As of [`Fetcher::new`].
    pub(crate) fn fetcher(
        &self,
        root: Option<&Path>,
        deadline: Duration,
    ) -> Result<Fetcher, String> {
        Fetcher::new(root, self.is_here, deadline)
    }
}

/// A client for requests over HTTPS.
#[derive(Debug, Clone)]
pub(crate) struct Fetcher {
    client: Client<HttpsConnector<HttpConnector>, Full<Bytes>>,
    /// How long a request may take in all.
    deadline: Duration,
}

impl Fetcher {
    /// Trusts the certificates that the system trusts, and those in the PEM file `root`. `is_here`:
    /// permits `http://`; the caller has checked that the address is on this machine, or that
    /// nothing is secret. `deadline`: how long a request may take in all.
    ///
    /// # Errors
    /// What is wrong with the file, or with the system's certificates.
    pub(crate) fn new(
        root: Option<&Path>,
        is_here: bool,
        deadline: Duration,
    ) -> Result<Self, String> {
        let mut roots = RootCertStore::empty();
        roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
        if let Some(file) = root {
            let cannot = |why: String| format!("{}: {why}", file.display());
            let certificates =
                CertificateDer::pem_file_iter(file).map_err(|error| cannot(error.to_string()))?;
            for certificate in certificates {
                let certificate = certificate.map_err(|error| cannot(error.to_string()))?;
                roots.add(certificate).map_err(|error| cannot(error.to_string()))?;
            }
        }
        if roots.is_empty() {
            return Err(
                "the system has no certificates that it trusts: install ca-certificates".into()
            );
        }
        let provider = std::sync::Arc::new(rustls::crypto::ring::default_provider());
        let tls = rustls::ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .map_err(|error| error.to_string())?
            .with_root_certificates(roots)
            .with_no_client_auth();
        let connector = HttpsConnectorBuilder::new().with_tls_config(tls);
        let connector = match is_here {
            true => connector.https_or_http().enable_http1().build(),
            false => connector.https_only().enable_http1().build(),
        };
        Ok(Fetcher { client: Client::builder(TokioExecutor::new()).build(connector), deadline })
    }

    /// Fetches the content of the address, at most `limit` bytes.
    ///
    /// # Errors
    /// Why it cannot be had, for the operator.
    pub(crate) async fn get(&self, address: &Uri, limit: usize) -> Result<Bytes, String> {
        let request = Request::get(address.clone())
            .header("accept", "application/json")
            .body(Full::default())
            .map_err(|error| error.to_string())?;
        let (status, body) = self.send(request, limit).await?;
        match status {
            StatusCode::OK => Ok(body),
            other => Err(format!("the answer is {other}")),
        }
    }

    /// Sends a request, and reads status and body of the answer, of at most `limit` bytes.
    ///
    /// # Errors
    /// Why there is no answer, for the operator.
    pub(crate) async fn send(
        &self,
        request: Request<Full<Bytes>>,
        limit: usize,
    ) -> Result<(StatusCode, Bytes), String> {
        let answer = self.exchange(request, limit).await?;
        Ok((answer.status(), answer.into_body()))
    }

    /// Sends a request, and reads the whole answer, with a body of at most `limit` bytes.
    ///
    /// # Errors
    /// Why there is no answer, for the operator.
    pub(crate) async fn exchange(
        &self,
        request: Request<Full<Bytes>>,
        limit: usize,
    ) -> Result<Response<Bytes>, String> {
        let answer = async {
            let answer = self.client.request(request).await.map_err(|error| describe(&error))?;
            let (head, body) = answer.into_parts();
            let body = Limited::new(body, limit).collect().await;
            let body = body.map_err(|error| error.to_string())?;
            Ok(Response::from_parts(head, body.to_bytes()))
        };
        let late = || Err(format!("there was no answer within {} s", self.deadline.as_secs_f32()));
        timeout(self.deadline, answer).await.unwrap_or_else(|_| late())
    }
}

/// An error with its causes.
fn describe(error: &dyn std::error::Error) -> String {
    match error.source() {
        Some(source) => format!("{error}: {}", describe(source)),
        None => error.to_string(),
    }
}
