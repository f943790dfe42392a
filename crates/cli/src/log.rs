//! The log of a command.

mod stderr;

use clap::ValueEnum;
use tracing_subscriber::filter::LevelFilter;
use tracing_subscriber::fmt::MakeWriter;

pub(crate) use self::stderr::Stderr;

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

/// Starts the log on standard error, which must not stop the program if nobody reads it.
pub(crate) fn start_log(level: Level, format: Format) {
    start_log_on(level, format, Stderr::new(format));
}

/// Starts the log.
pub(crate) fn start_log_on<W>(level: Level, format: Format, writer: W)
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
    // A line that cannot be written, because the disk is full, would be reported on standard error.
    // If that goes to the same disk, the report would panic.
    let log = log.log_internal_errors(false);
    match format {
        Format::Json => log.json().init(),
        Format::Text => log.with_ansi(false).with_target(false).init(),
    }
}
