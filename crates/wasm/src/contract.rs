//! Converts reports on a channel's QoS contract to JavaScript. Their TypeScript type is `Contract`
//! in `web/client/src/api.ts`.

use alloc::string::ToString;
use alloc::vec::Vec;

use groupwire_session::{Breach, ContractReport, ContractState, Histogram, Measure, Rate, Tally};
use wasm_bindgen::prelude::JsValue;

use crate::plain::Plain;
use crate::{millis, number};

pub(crate) fn write(report: &ContractReport) -> Plain {
    state(report.state, &report.measures)
        .with("recent", tally(report.recent))
        .with("total", tally(report.total))
        .with("rate", report.rate.map(Rate::hertz))
        .with("latency", latency(&report.latency))
        .with("upstream", share(report.upstream))
}

/// Converts the state of a contract, and the measures by which the session tries to meet it. An
/// event contains only these; a report contains them and more.
pub(crate) fn state(state: ContractState, measures: &[Measure]) -> Plain {
    let name = match state {
        ContractState::Met => "met",
        ContractState::Missed(_) => "missed",
        ContractState::CannotMeet(_) => "cannot-meet",
    };
    let measures: Vec<JsValue> = measures.iter().map(measure).collect();
    Plain::new()
        .with("state", name)
        .with("breach", state.breach().map(breach))
        .with("text", state.to_string())
        .with("measures", measures)
}

fn breach(breach: Breach) -> JsValue {
    match breach {
        Breach::Loss { target, missed, deadline } => Plain::new()
            .with("of", "loss")
            .with("target", share(target))
            .with("measured", share(missed))
            .with("deadline", deadline.map(millis)),
        Breach::Rate { target, rate } => Plain::new()
            .with("of", "rate")
            .with("target", target.hertz())
            .with("measured", rate.hertz()),
    }
    .into()
}

fn measure(measure: &Measure) -> JsValue {
    let kind = match measure {
        Measure::Datagrams => "datagrams",
        Measure::Stream => "stream",
        Measure::Repeated { .. } => "repeated",
        Measure::Requested { .. } => "requested",
        Measure::RateLimited { .. } => "rateLimited",
        Measure::Downsampled { .. } => "downsampled",
        Measure::Conflated { .. } => "conflated",
        _ => "other",
    };
    Plain::new().with("kind", kind).with("text", measure.to_string()).into()
}

fn tally(tally: Tally) -> Plain {
    Plain::new()
        .with("judged", number(tally.judged))
        .with("missed", number(tally.missed))
        .with("late", number(tally.late))
}

fn latency(histogram: &Histogram) -> Plain {
    let bucket =
        |(ms, count): (u32, u32)| JsValue::from(Vec::from([JsValue::from(ms), count.into()]));
    let buckets: Vec<JsValue> = histogram.buckets().map(bucket).collect();
    Plain::new()
        .with("median", histogram.quantile(0.5).map(millis))
        .with("p99", histogram.quantile(0.99).map(millis))
        .with("buckets", buckets)
}

fn share(per_mille: u16) -> f64 {
    f64::from(per_mille) / 1000.0
}
