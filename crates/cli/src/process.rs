//! Logging and shutdown of the commands that run until they are stopped.

use clap::ValueEnum;
use tracing_subscriber::filter::LevelFilter;
use tracing_subscriber::fmt::MakeWriter;

/// The least severe messages that are logged.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub(crate) enum Level {
    Off,
    Error,
    Warn,
    Info,
    Debug,
}

/// The format of the log.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub(crate) enum Format {
    Text,
    Json,
}

/// Starts the log.
pub(crate) fn start_log<W>(level: Level, format: Format, writer: W)
where
    W: for<'a> MakeWriter<'a> + Send + Sync + 'static,
{
    let level = match level {
        Level::Off => LevelFilter::OFF,
        Level::Error => LevelFilter::ERROR,
        Level::Warn => LevelFilter::WARN,
        Level::Info => LevelFilter::INFO,
        Level::Debug => LevelFilter::DEBUG,
    };
    let log = tracing_subscriber::fmt().with_max_level(level).with_writer(writer);
    match format {
        Format::Json => log.json().init(),
        Format::Text => log.with_ansi(false).with_target(false).init(),
    }
}

/// Waits for Ctrl-C or, on Unix, for SIGTERM, which service managers send.
pub(crate) async fn stop_signal() {
    let interrupt = async {
        if tokio::signal::ctrl_c().await.is_err() {
            std::future::pending::<()>().await;
        }
    };
    #[cfg(unix)]
    {
        use tokio::signal::unix::{SignalKind, signal};
        match signal(SignalKind::terminate()) {
            Ok(mut terminate) => tokio::select! {
                () = interrupt => {}
                _ = terminate.recv() => {}
            },
            Err(_) => interrupt.await,
        }
    }
    #[cfg(not(unix))]
    interrupt.await;
}

/// Waits as [`stop_signal`] does. The next such signal then ends the process at once, whatever it is waiting for.
pub(crate) async fn first_stop_signal() {
    stop_signal().await;
    tokio::spawn(async {
        stop_signal().await;
        eprintln!("groupwire: stopped at once by a second signal");
        std::process::exit(1);
    });
}
