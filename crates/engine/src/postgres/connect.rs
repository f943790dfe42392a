//! How to connect to the database: the URL, TLS, and the settings of each session.

use std::collections::HashMap;
use std::future::poll_fn;
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::task::JoinHandle;
use tokio::time::timeout;
use tokio_postgres::config::{Host, SslMode, TargetSessionAttrs};
use tokio_postgres::{AsyncMessage, Client, Config, Notification, Statement};

use super::encrypted::MakeTls;
use crate::credentials::{self, Credentials};
use crate::{OpenError, Options, Tls, tls};

/// A connection to a machine that has vanished is given up after some 11 s.
const KEEPALIVE: (Duration, Duration, u32) = (Duration::from_secs(5), Duration::from_secs(2), 3);

/// The function of PostgreSQL that warns that a wait for a standby was cut short. The commit is
/// then reported as done, though only the primary has it.
const WAIT_FOR_STANDBY: &str = "SyncRepWaitForLSN";

/// The database of a deployment.
#[derive(Clone)]
pub(super) struct Target {
    config: Config,
    tls: MakeTls,
    pub(super) patience: Duration,
    /// The servers of the URL, for errors.
    pub(super) address: String,
    /// The schema of the deployment, which is the channel of its hints, too.
    pub(super) schema: String,
}

/// A connection that was made.
pub(super) struct Live {
    pub(super) client: Client,
    /// Ends with the connection.
    pub(super) driver: JoinHandle<()>,
    /// Statements by their text. Planning one takes longer than a short one runs.
    prepared: Mutex<HashMap<&'static str, Statement>>,
    /// The number of statements that were answered in time.
    pub(super) answered: AtomicU64,
}

impl Live {
    pub(super) async fn prepare(
        &self,
        sql: &'static str,
    ) -> Result<Statement, tokio_postgres::Error> {
        let known = || self.prepared.lock().unwrap_or_else(PoisonError::into_inner);
        let found = known().get(sql).cloned();
        if let Some(statement) = found {
            return Ok(statement);
        }
        let statement = self.client.prepare(sql).await?;
        known().insert(sql, statement.clone());
        Ok(statement)
    }
}

impl Target {
    pub(super) fn new(url: &str, options: &Options) -> Result<Self, OpenError> {
        // The certificate is always checked as libpq's verify-full does.
        let url = url.replace("sslmode=verify-full", "sslmode=require");
        let mut config: Config = url.parse().map_err(|error: tokio_postgres::Error| {
            let why = text(&error);
            OpenError::Options(format!("the URL of the engine cannot be read: {why}"))
        })?;
        config
            .application_name("groupwire")
            .target_session_attrs(TargetSessionAttrs::ReadWrite)
            .connect_timeout(options.patience)
            .keepalives_idle(KEEPALIVE.0)
            .keepalives_interval(KEEPALIVE.1)
            .keepalives_retries(KEEPALIVE.2);
        if config.get_ssl_mode() == SslMode::Prefer {
            let is_local = options.tls == Tls::default() && is_local(&config);
            config.ssl_mode(if is_local { SslMode::Disable } else { SslMode::Require });
        }
        if let Some(path) = &options.credentials {
            match credentials::read(path)? {
                Credentials::User(user, password) => config.user(user).password(password),
                Credentials::Password(password) => config.password(password),
                Credentials::Nsc(_) => {
                    let why = "is a credential of NATS, not of PostgreSQL".into();
                    return Err(OpenError::File { path: path.clone(), why });
                }
            };
        }
        Ok(Self {
            address: address(&config),
            config,
            tls: MakeTls(Arc::new(tls::config(&options.tls)?)),
            patience: options.patience,
            schema: format!("groupwire_{}", options.cluster),
        })
    }

    /// Connects for the first time, with errors for an operator.
    pub(super) async fn first(&self) -> Result<Live, OpenError> {
        match timeout(self.patience, self.connect(|_| ())).await {
            Ok(connected) => connected.map_err(|error| self.failed(&error)),
            Err(_) => Err(OpenError::Unreachable {
                address: self.address.clone(),
                cause: format!("no answer within {} s", self.patience.as_secs_f32()),
                check: "check the address, that PostgreSQL runs there, and the firewalls between",
            }),
        }
    }

    /// Connects, and calls a function for each notification until the connection ends.
    pub(super) async fn connect(
        &self,
        mut notified: impl FnMut(Notification) + Send + 'static,
    ) -> Result<Live, tokio_postgres::Error> {
        let (client, mut connection) = self.config.connect(self.tls.clone()).await?;
        let driver = tokio::spawn(async move {
            loop {
                match poll_fn(|context| connection.poll_message(context)).await {
                    Some(Ok(AsyncMessage::Notification(notification))) => notified(notification),
                    // The caller must not see the commit succeed.
                    Some(Ok(AsyncMessage::Notice(notice)))
                        if notice.routine() == Some(WAIT_FOR_STANDBY) =>
                    {
                        return;
                    }
                    Some(Ok(_)) => {}
                    Some(Err(_)) | None => return,
                }
            }
        });
        // The fence needs to see what others committed while it waited for a row. An append may not
        // wait for the row of a writer that hangs for longer than its caller does.
        let settings = format!(
            "SET search_path = \"{}\"; SET default_transaction_isolation = 'read committed';
             SET lock_timeout = {}; SELECT set_config('synchronous_commit', 'on', false)
             WHERE current_setting('synchronous_commit') NOT IN ('on', 'remote_apply')",
            self.schema,
            self.patience.as_millis()
        );
        client.batch_execute(&settings).await?;
        Ok(Live { client, driver, prepared: Mutex::default(), answered: AtomicU64::new(0) })
    }

    pub(super) fn failed(&self, error: &tokio_postgres::Error) -> OpenError {
        let (address, cause) = (self.address.clone(), text(error));
        let code = error.as_db_error().map(|error| error.code().code().to_owned());
        let check = match code.as_deref() {
            Some("28000" | "28P01") => {
                "check the user in the URL, the file with the password, and pg_hba.conf"
            }
            Some("3D000") => "create the database, or name another one in the URL",
            Some("42501") => {
                "give the user the right to create schemas, or to use the schema of the cluster"
            }
            None if tls::is_about(&cause) => {
                "check the server's certificate and its authority, or add ?sslmode=disable to the URL if the network may be trusted"
            }
            Some(_) => {
                return OpenError::Unreachable {
                    address,
                    cause,
                    check: "see the log of PostgreSQL",
                };
            }
            None => {
                let check = "check the address, that PostgreSQL runs there and can be written to, and the firewalls between";
                return OpenError::Unreachable { address, cause, check };
            }
        };
        OpenError::Unusable { address, cause, check }
    }
}

/// An error with its cause; PostgreSQL's own message if there is one.
pub(super) fn text(error: &tokio_postgres::Error) -> String {
    if let Some(error) = error.as_db_error() {
        return format!("{} ({})", error.message(), error.code().code());
    }
    let cause = std::error::Error::source(error).map(|cause| format!(": {cause}"));
    format!("{error}{}", cause.unwrap_or_default())
}

fn is_local(config: &Config) -> bool {
    config.get_hosts().iter().all(|host| match host {
        Host::Tcp(name) => matches!(name.as_str(), "localhost" | "127.0.0.1" | "::1"),
        #[cfg(unix)]
        Host::Unix(_) => true,
    })
}

fn address(config: &Config) -> String {
    let ports = config.get_ports();
    let host = |(index, host): (usize, &Host)| match host {
        Host::Tcp(name) => {
            format!("{name}:{}", ports.get(index).or(ports.first()).unwrap_or(&5432))
        }
        #[cfg(unix)]
        Host::Unix(path) => path.display().to_string(),
    };
    config.get_hosts().iter().enumerate().map(host).collect::<Vec<_>>().join(", ")
}
