//! A server in this process, an agent, and the official SDK's client as its host.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use groupwire_agent::{Agent, Config, HttpConfig, HttpListener};
use groupwire_client::{Event, Events, Options, Room};
use groupwire_server::session::Identity;
use groupwire_server::{
    Admission, Answer, Authenticator, ByRights, Config as ServerConfig, JoinRequest, Refusal,
    Rights, Server,
};
use rmcp::model::{CallToolRequestParams, Tool};
use rmcp::service::{RoleClient, RunningService};
use rmcp::transport::StreamableHttpClientTransport;
use rmcp::transport::streamable_http_client::StreamableHttpClientTransportConfig;
use rmcp::{ServiceExt, serve_server};
use serde_json::Value;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;
use tokio::time::timeout;

/// A time limit that no test reaches.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

pub(crate) const SECRET: &str = "a secret of the tests, long enough";

/// The transport between the host and the agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Over {
    /// Lines over a pair of pipes, as over standard input and output.
    Pipe,
    Http,
}

/// Runs each of the named tests over each transport.
macro_rules! over_every_transport {
    ($($test:ident)*) => {
        over_every_transport!(@ pipe Pipe $($test)*);
        over_every_transport!(@ http Http $($test)*);
    };
    (@ $module:ident $over:ident $($test:ident)*) => {
        mod $module {
            use crate::support::Over;
            $(
                #[tokio::test(flavor = "multi_thread")]
                async fn $test() {
                    super::$test(Over::$over).await;
                }
            )*
        }
    };
}
pub(crate) use over_every_transport;

/// A running server.
pub(crate) struct Running {
    pub(crate) address: SocketAddr,
    stop: oneshot::Sender<()>,
    task: JoinHandle<()>,
}

impl Running {
    pub(crate) async fn start() -> Self {
        Running::with(usual()).await
    }

    /// A server whose participants need the tokens of [`Tokens`].
    pub(crate) async fn with_tokens() -> Self {
        Running::with(ServerConfig {
            authenticator: Arc::new(Tokens),
            authority: Arc::new(ByRights),
            ..usual()
        })
        .await
    }

    pub(crate) async fn with(config: ServerConfig) -> Self {
        let server = Server::bind(config).await.unwrap();
        let address = server.local_addr();
        let (stop, stopped) = oneshot::channel();
        let task = tokio::spawn(async move {
            let stopped = async { stopped.await.unwrap_or_default() };
            server.run(stopped).await.unwrap();
        });
        Running { address, stop, task }
    }

    pub(crate) async fn stop(self) -> SocketAddr {
        self.stop.send(()).unwrap();
        self.task.await.unwrap();
        self.address
    }

    pub(crate) fn url(&self) -> String {
        format!("ws://{}", self.address)
    }

    pub(crate) fn config(&self) -> Config {
        Config::new(&self.url(), "Tidy bot", ["plan", "notes"])
    }

    /// Another participant of a room.
    pub(crate) async fn person(&self, room: &str, token: &str) -> (Room, Events) {
        let mut options = Options::new(room);
        options.token = token.into();
        options.presence = br#"{"name":"Ann"}"#.to_vec();
        let (room, events) = Room::connect(&self.url(), options).unwrap();
        room.joined().await.unwrap();
        (room, events)
    }
}

pub(crate) fn usual() -> ServerConfig {
    let listen = ([127, 0, 0, 1], 0).into();
    ServerConfig { listen, webtransport: None, ..ServerConfig::default() }
}

/// Knows the tokens of the tests.
struct Tokens;

impl Authenticator for Tokens {
    fn authenticate<'a>(&'a self, request: JoinRequest<'a>) -> Answer<'a> {
        Box::pin(async move {
            let mut rights = Rights::of_rooms(["plan".to_owned()]);
            let mut expires = None;
            match request.token {
                b"good" => {}
                b"reader" => rights.publish.clear(),
                b"chat" => {
                    rights.publish = vec!["chat".to_owned()];
                    rights.subscribe = vec!["chat".to_owned()];
                }
                b"short" => expires = Some(SystemTime::now() + Duration::from_secs(1)),
                b"old" => return Err(Refusal::Expired),
                b"banned" => return Err(Refusal::Banned("for ever".to_owned())),
                _ => return Err(Refusal::Refused("this token is unknown".to_owned())),
            }
            if request.room != "plan" {
                return Err(Refusal::Refused("this token is not for this room".to_owned()));
            }
            let rights = serde_json::to_vec(&rights).unwrap();
            let identity = Identity { subject: b"bot-17".to_vec(), rights };
            Ok(Admission { identity, expires, ..Admission::default() })
        })
    }
}

/// A program that uses the agent's tools.
pub(crate) struct Host {
    client: RunningService<RoleClient, ()>,
    pub(crate) agent: Agent,
}

/// The code and the words of an error of a tool.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Failed {
    pub(crate) code: String,
    pub(crate) message: String,
}

impl Host {
    pub(crate) async fn start(config: Config, over: Over) -> Self {
        let agent = Agent::new(config).unwrap();
        let client = match over {
            Over::Pipe => {
                let (near, far) = tokio::io::duplex(64 << 10);
                let served = agent.clone();
                tokio::spawn(async move {
                    serve_server(served, far).await.unwrap().waiting().await.unwrap();
                });
                ().serve(near).await.unwrap()
            }
            Over::Http => {
                let address = listen(agent.clone()).await;
                let url = format!("http://{address}/mcp");
                let config = StreamableHttpClientTransportConfig::with_uri(url);
                let transport =
                    StreamableHttpClientTransport::from_config(config.auth_header(SECRET));
                ().serve(transport).await.unwrap()
            }
        };
        Host { client, agent }
    }

    pub(crate) async fn call(&self, tool: &str, arguments: Value) -> Result<Value, Failed> {
        let Value::Object(arguments) = arguments else { panic!("arguments are an object") };
        let call = CallToolRequestParams::new(tool.to_owned()).with_arguments(arguments);
        let result = match timeout(PATIENCE, self.client.call_tool(call)).await.unwrap() {
            Ok(result) => result,
            Err(error) => {
                return Err(Failed { code: "protocol".to_owned(), message: error.to_string() });
            }
        };
        let value = result.structured_content.unwrap_or_default();
        if result.is_error != Some(true) {
            return Ok(value);
        }
        let text = |name: &str| value[name].as_str().unwrap_or_default().to_owned();
        let message = format!("{}{:?}", text("message"), result.content);
        Err(Failed { code: text("code"), message })
    }

    /// Calls a tool that has to fail, and returns its code.
    pub(crate) async fn fails(&self, tool: &str, arguments: Value) -> String {
        let failed = self.call(tool, arguments.clone()).await;
        let failed = failed.expect_err(&format!("{tool} {arguments} did not fail"));
        assert!(failed.message.len() > 20, "{tool} {arguments}: {failed:?} says not what to do");
        failed.code
    }

    pub(crate) async fn tools(&self) -> Vec<Tool> {
        self.client.list_all_tools().await.unwrap()
    }
}

pub(crate) async fn listen(agent: Agent) -> SocketAddr {
    let listen = ([127, 0, 0, 1], 0).into();
    let config = HttpConfig { listen, secret: SECRET.to_owned(), hosts: vec![], origins: vec![] };
    let listener = HttpListener::bind(agent, config).await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(listener.run(std::future::pending()));
    address
}

/// Reads events until `wanted` returns a value for one.
pub(crate) async fn until<T>(events: &mut Events, wanted: impl Fn(&Event) -> Option<T>) -> T {
    let reading = async {
        while let Some(event) = events.next().await {
            if let Some(found) = wanted(&event) {
                return found;
            }
        }
        panic!("the session ended");
    };
    timeout(PATIENCE, reading).await.expect("it did not come")
}
