//! Traces of joins for OpenTelemetry: what a client waited for until it joined or was refused.
//!
//! A trace has a span `join`, from the connection to the client's place in its room, and within
//! that `opening`, `authenticate` with `hook`, and `room` with `load`. Spans have no tokens and no
//! names of people; the room's name only if the operator wants it.

mod collector;
mod span;

use std::sync::Arc;
use std::time::Duration;

use hyper::Uri;
use opentelemetry::trace::TracerProvider;
use opentelemetry_otlp::{Protocol, SpanExporter, WithExportConfig, WithHttpConfig};
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::trace::{Sampler, SdkTracer, SdkTracerProvider};

use crate::tools::fetch::Fetcher;
use collector::Collector;
pub(crate) use span::{JoinTrace, Span};

/// The path of OTLP over HTTP below the address of a receiver.
const PATH: &str = "/v1/traces";

/// How long a request may take: with a slow receiver spans are dropped, as there is one request at
/// a time.
const DEADLINE: Duration = Duration::from_secs(4);

/// How long sending the last spans may take when the server ends, so that traces hardly delay its
/// end.
const LAST_SPANS: Duration = Duration::from_millis(500);

/// Where traces go, and what is in them.
#[derive(Debug, Clone)]
pub struct TracesConfig {
    /// The address of a receiver of OTLP over HTTP, such as `http://127.0.0.1:4318`; spans go to
    /// `/v1/traces` there.
    pub address: String,
    /// The name of this service in the traces.
    pub service: String,
    /// The share of joins that are traced, from 0 to 1.
    pub ratio: f64,
    /// Whether spans have the names of rooms.
    pub room_names: bool,
}

/// Makes traces of joins and sends them. The default makes none.
///
/// Finished spans wait in a queue of 2,048, which a thread of its own sends; with more, spans are
/// dropped. So a slow or absent receiver delays no join.
#[derive(Debug, Clone, Default)]
pub struct Traces(Option<Arc<Sender>>);

#[derive(Debug)]
struct Sender {
    provider: SdkTracerProvider,
    tracer: SdkTracer,
    room_names: bool,
}

impl Traces {
    /// Makes traces as the configuration says. Needs a Tokio runtime, in which they are sent. The
    /// OpenTelemetry SDK also reads its variables `OTEL_RESOURCE_ATTRIBUTES`,
    /// `OTEL_EXPORTER_OTLP_HEADERS` and those of the batch processor (`OTEL_BSP_*`).
    ///
    /// # Errors
    /// What is wrong with the configuration, for the operator.
    pub fn new(config: TracesConfig) -> Result<Self, String> {
        let TracesConfig { address, service, ratio, room_names } = config;
        let uri: Uri = address.parse().map_err(|_| format!("{address} is no address"))?;
        if !matches!(uri.scheme_str(), Some("http" | "https")) || uri.query().is_some() {
            return Err(format!("{address}: write it such as http://127.0.0.1:4318"));
        }
        let endpoint = format!("{}{PATH}", address.trim_end_matches('/'));
        // Nothing in the spans is secret, so that http:// is permitted to any machine.
        let collector = Collector::new(Fetcher::new(None, true, DEADLINE)?)?;
        let exporter = SpanExporter::builder()
            .with_http()
            .with_http_client(collector)
            .with_protocol(Protocol::HttpBinary)
            .with_endpoint(endpoint)
            .build()
            .map_err(|error| error.to_string())?;
        let version = opentelemetry::KeyValue::new("service.version", env!("CARGO_PKG_VERSION"));
        let resource = Resource::builder().with_service_name(service).with_attribute(version);
        let sampler = Sampler::ParentBased(Box::new(Sampler::TraceIdRatioBased(ratio)));
        let provider = SdkTracerProvider::builder()
            .with_batch_exporter(exporter)
            .with_resource(resource.build())
            .with_sampler(sampler)
            .build();
        let tracer = provider.tracer("groupwire-server");
        Ok(Traces(Some(Arc::new(Sender { provider, tracer, room_names }))))
    }

    /// Sends the spans that have ended, and makes no more.
    pub async fn close(self) {
        let Some(sender) = self.0 else { return };
        // It blocks until the spans are sent.
        let closing = move || sender.provider.shutdown_with_timeout(LAST_SPANS);
        // The collector has logged errors.
        let _ = tokio::task::spawn_blocking(closing).await;
    }

    /// Begins a trace with its first span.
    pub(crate) fn begin(&self, name: &'static str) -> Span {
        self.0.as_ref().map_or(Span::NONE, |sender| Span::first(&sender.tracer, name))
    }

    /// Notes the name of a room, if spans may have it.
    pub(crate) fn name_room(&self, span: &Span, room: &str) {
        if self.0.as_ref().is_some_and(|sender| sender.room_names) {
            span.set("groupwire.room", room.to_owned());
        }
    }
}
