//! The spans of a trace.

use std::fmt;
use std::sync::Arc;

use groupwire_session::Error;
use opentelemetry::trace::{SpanBuilder, SpanKind, Status, TraceContextExt, TraceFlags, Tracer};
use opentelemetry::{Context, KeyValue, Value};
use opentelemetry_sdk::trace::SdkTracer;

/// A part of a trace. It ends when the last clone is dropped, or at [`end`](Span::end).
#[derive(Clone)]
pub(crate) struct Span(Option<Arc<Traced>>);

struct Traced {
    tracer: SdkTracer,
    context: Context,
}

impl Span {
    /// A span of no trace.
    pub(crate) const NONE: Span = Span(None);

    /// Begins a trace.
    pub(super) fn first(tracer: &SdkTracer, name: &'static str) -> Self {
        let parent = Context::new();
        let builder = SpanBuilder::from_name(name).with_kind(SpanKind::Server);
        let context = parent.with_span(tracer.build_with_context(builder, &parent));
        Span(Some(Arc::new(Traced { tracer: tracer.clone(), context })))
    }

    /// Begins a part of this span.
    pub(crate) fn part(&self, name: &'static str) -> Self {
        self.part_of_kind(name, SpanKind::Internal)
    }

    /// Begins a part of this span: a request to another server.
    pub(crate) fn request(&self, name: &'static str) -> Self {
        self.part_of_kind(name, SpanKind::Client)
    }

    fn part_of_kind(&self, name: &'static str, kind: SpanKind) -> Self {
        let Some(Traced { tracer, context }) = self.0.as_deref() else { return Span::NONE };
        let builder = SpanBuilder::from_name(name).with_kind(kind);
        let context = context.with_span(tracer.build_with_context(builder, context));
        Span(Some(Arc::new(Traced { tracer: tracer.clone(), context })))
    }

    /// Sets an attribute of this span.
    pub(crate) fn set(&self, key: &'static str, value: impl Into<Value>) {
        if let Some(traced) = &self.0 {
            traced.context.span().set_attribute(KeyValue::new(key, value));
        }
    }

    /// Marks the span as failed, with the error's name. The error's text may have names of rooms
    /// and people.
    pub(crate) fn fail(&self, error: &'static str) {
        if let Some(traced) = &self.0 {
            let span = traced.context.span();
            span.set_attribute(KeyValue::new("error.type", error));
            span.set_status(Status::error(error));
        }
    }

    /// Ends the span, even if clones of it exist.
    pub(crate) fn end(&self) {
        if let Some(traced) = &self.0 {
            traced.context.span().end();
        }
    }

    /// The value of the header `traceparent` (W3C Trace Context, section 3.2), which makes the work
    /// of another server part of this span.
    pub(crate) fn traceparent(&self) -> Option<String> {
        let traced = self.0.as_ref()?;
        let span = traced.context.span();
        let context = span.span_context();
        let flags = context.trace_flags() & TraceFlags::SAMPLED;
        Some(format!("00-{}-{}-{flags:02x}", context.trace_id(), context.span_id()))
    }
}

impl fmt::Debug for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Span").field(&self.traceparent()).finish()
    }
}

/// The spans of a client that is on its way into a room.
#[derive(Debug, Clone)]
pub(crate) struct JoinTrace {
    /// From the connection to the place in the room.
    pub(crate) join: Span,
    /// From the room's first message to the place in it.
    pub(crate) room: Span,
}

impl JoinTrace {
    /// The client has its place in the room.
    pub(crate) fn joined(&mut self, resumed: bool) {
        self.join.set("groupwire.resumed", resumed);
        self.end();
    }

    /// The room does not take the client. Later errors of a participant are not part of its join.
    pub(crate) fn refused(&mut self, error: &Error) {
        self.join.fail(error.name());
        self.end();
    }

    fn end(&mut self) {
        for span in [&mut self.room, &mut self.join] {
            std::mem::replace(span, Span::NONE).end();
        }
    }
}
