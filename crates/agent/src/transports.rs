//! The transports: streamable HTTP, and standard input and output.

use std::net::SocketAddr;
use std::sync::Arc;

use axum::Router;
use axum::extract::{Request, State};
use axum::http::{StatusCode, header};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse, Response};
use rmcp::ServiceExt;
use rmcp::transport::stdio;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use subtle::ConstantTimeEq;
use tokio::net::TcpListener;
use tokio::sync::Semaphore;

use crate::agent::Agent;

/// Most requests that are answered at the same time; further ones get status 503. Each waiting tool
/// is a request.
const MAX_REQUESTS: usize = 64;

/// Most bytes of a request. The largest argument is a message ([`Limits`](crate::Limits)).
const MAX_REQUEST_BYTES: usize = 256 << 10;

/// Fewest bytes of the listener's secret: 128 bits in Base64.
const MIN_SECRET: usize = 22;

/// The configuration of the HTTP listener.
#[derive(Debug, Clone)]
pub struct HttpConfig {
    /// The address to listen on. Everybody who reaches it and has the secret can act as the agent.
    pub listen: SocketAddr,
    /// The secret that hosts send as `Authorization: Bearer SECRET`.
    pub secret: String,
    /// Names under which the listener may be addressed (header `Host`), besides `localhost`,
    /// `127.0.0.1` and `::1`. Others are refused, so that a web page cannot reach the listener
    /// under a name of its own (DNS rebinding).
    pub hosts: Vec<String>,
    /// Origins of web pages that may use the listener, such as `https://host.example`. Requests of
    /// all other web pages are refused.
    pub origins: Vec<String>,
}

/// A listener that serves MCP by streamable HTTP, at the path `/mcp`.
pub struct HttpListener {
    listener: TcpListener,
    router: Router,
}

impl HttpListener {
    /// Opens the listener.
    ///
    /// ```no_run
    /// # async fn example(agent: groupwire_agent::Agent) -> Result<(), String> {
    /// use groupwire_agent::{HttpConfig, HttpListener};
    ///
    /// let secret = "a secret of at least 22 bytes".to_owned();
    /// let listen = ([127, 0, 0, 1], 8970).into();
    /// let config = HttpConfig { listen, secret, hosts: vec![], origins: vec![] };
    /// HttpListener::bind(agent, config).await?.run(std::future::pending()).await
    /// # }
    /// ```
    ///
    /// # Errors
    /// A secret that is too short; an address that cannot be listened on.
    pub async fn bind(agent: Agent, config: HttpConfig) -> Result<Self, String> {
        let HttpConfig { listen, secret, mut hosts, origins } = config;
        if secret.len() < MIN_SECRET {
            return Err(format!("the secret of the listener has less than {MIN_SECRET} bytes"));
        }
        let listener = TcpListener::bind(listen).await;
        let listener = listener.map_err(|error| format!("cannot listen on {listen}: {error}"))?;
        hosts.extend(["localhost", "127.0.0.1", "::1"].map(str::to_owned));
        // Without sessions of MCP: each request stands for itself, and clients that go away leave
        // nothing behind.
        let settings = StreamableHttpServerConfig::default()
            .with_legacy_session_mode(false)
            .with_json_response(true)
            .with_allowed_hosts(hosts)
            .with_allowed_origins(origins)
            .enforce_origin_validation()
            .with_max_request_body_bytes(MAX_REQUEST_BYTES);
        let sessions = Arc::new(LocalSessionManager::default());
        let service = StreamableHttpService::new(move || Ok(agent.clone()), sessions, settings);
        let gate = Arc::new(Gate { secret, requests: Semaphore::new(MAX_REQUESTS) });
        let router = Router::new()
            .route_service("/mcp", service)
            .layer(middleware::from_fn_with_state(gate, admit));
        Ok(HttpListener { listener, router })
    }

    /// The address that it listens on.
    ///
    /// # Errors
    /// The operating system does not tell.
    pub fn local_addr(&self) -> Result<SocketAddr, String> {
        self.listener.local_addr().map_err(|error| error.to_string())
    }

    /// Serves until `stop` is ready. Requests that still wait are dropped.
    ///
    /// # Errors
    /// The listener failed.
    pub async fn run(self, stop: impl Future<Output = ()>) -> Result<(), String> {
        tokio::select! {
            outcome = axum::serve(self.listener, self.router).into_future() => {
                outcome.map_err(|error| error.to_string())
            }
            () = stop => Ok(()),
        }
    }
}

/// Serves one host over standard input and output, until the host closes them or `stop` is ready.
///
/// # Errors
/// The host does not speak MCP.
pub async fn serve_stdio(agent: Agent, stop: impl Future<Output = ()>) -> Result<(), String> {
    let serving = async {
        let service = agent.serve(stdio()).await.map_err(|error| error.to_string())?;
        service.waiting().await.map_err(|error| error.to_string())
    };
    tokio::select! {
        outcome = serving => outcome.map(|_| ()),
        () = stop => Ok(()),
    }
}

struct Gate {
    secret: String,
    requests: Semaphore,
}

/// Lets requests with the secret pass. It is checked before anything else is read.
async fn admit(State(gate): State<Arc<Gate>>, request: Request, next: Next) -> Response {
    let given = request.headers().get(header::AUTHORIZATION).and_then(|value| value.to_str().ok());
    let given = given
        .and_then(|value| value.split_once(' '))
        .filter(|(scheme, _)| scheme.eq_ignore_ascii_case("bearer"));
    let given = given.map_or("", |(_, secret)| secret.trim());
    if !bool::from(given.as_bytes().ct_eq(gate.secret.as_bytes())) {
        let challenge = [(header::WWW_AUTHENTICATE, "Bearer")];
        let why = "send the secret of this listener: Authorization: Bearer SECRET\n";
        return (StatusCode::UNAUTHORIZED, challenge, why).into_response();
    }
    let Ok(_permit) = gate.requests.try_acquire() else {
        let why = "too many requests at the same time: try again\n";
        return (StatusCode::SERVICE_UNAVAILABLE, why).into_response();
    };
    next.run(request).await
}
