//! The options of traces for OpenTelemetry.

use clap::Args;
use groupwire_server::{Traces, TracesConfig};

/// OpenTelemetry's own variables, which apply where no option is given.
const ADDRESS: &str = "OTEL_EXPORTER_OTLP_ENDPOINT";
const SERVICE: &str = "OTEL_SERVICE_NAME";

/// The options of traces for OpenTelemetry.
#[derive(Debug, Args)]
pub(crate) struct TracesArgs {
    /// The address of a receiver of OpenTelemetry's traces (OTLP over HTTP, in protobuf), such as
    /// http://127.0.0.1:4318: it gets traces of joins and hooks. Default:
    /// OTEL_EXPORTER_OTLP_ENDPOINT, or no traces.
    #[arg(long, value_name = "ADDRESS")]
    otlp: Option<String>,

    /// The share of joins that are traced, from 0 to 1.
    #[arg(long, value_name = "SHARE", default_value_t = 1.0, value_parser = share)]
    otlp_ratio: f64,

    /// Put the names of rooms into traces. The names may be secrets.
    #[arg(long)]
    otlp_room_names: bool,
}

impl TracesArgs {
    /// # Errors
    /// What is wrong with the address, for the operator.
    pub(super) fn traces(&self) -> Result<Traces, String> {
        let variable = |name| std::env::var(name).ok().filter(|value| !value.is_empty());
        let (option, address) = match &self.otlp {
            Some(address) => ("--otlp", address.clone()),
            None => match variable(ADDRESS) {
                Some(address) => (ADDRESS, address),
                None => return Ok(Traces::default()),
            },
        };
        let config = TracesConfig {
            address,
            service: variable(SERVICE).unwrap_or_else(|| "groupwire".to_owned()),
            ratio: self.otlp_ratio,
            room_names: self.otlp_room_names,
        };
        Traces::new(config).map_err(|why| format!("{option}: {why}"))
    }
}

fn share(text: &str) -> Result<f64, &'static str> {
    let share = text.parse().ok().filter(|share| (0.0..=1.0).contains(share));
    share.ok_or("write a number from 0 to 1, such as 0.1")
}
