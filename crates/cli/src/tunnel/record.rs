//! The status of a connection as a JSON object.

use std::time::{SystemTime, UNIX_EPOCH};

use groupwire_tunnel::Status;
use serde_json::{Value, json};

/// The JSON object of a connection. Times are in seconds (`time` since 1970), sizes in bytes, rates
/// in bytes per second; unknown rates are null.
pub(super) fn record(status: &Status) -> Value {
    let time = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let mut record = json!({
        "time": (time.as_secs_f64() * 1000.0).round() / 1000.0,
        "number": status.number.0,
        "route": status.route,
        "peer": status.peer.to_string(),
        "age": status.age.as_secs_f64(),
        "may_pack": status.may_pack,
        "state": match &status.outcome {
            None => "open",
            Some(Ok(())) => "ended",
            Some(Err(_)) => "failed",
        },
    });
    if let Some(Err(why)) = &status.outcome {
        record["error"] = json!(why);
    }
    if let Some(report) = &status.report {
        let known = |rate: f64| (rate > 0.0 && rate.is_finite()).then_some(rate);
        record["report"] = json!({
            "codec": report.candidate.to_string(),
            "ratio": report.ratio,
            "plain_out": report.plain_out,
            "wire_out": report.wire_out,
            "plain_in": report.plain_in,
            "wire_in": report.wire_in,
            "packing": report.packing.as_secs_f64(),
            "unpacking": report.unpacking.as_secs_f64(),
            "forecast_bandwidth": known(report.forecast.bandwidth),
            "forecast_round_trip": known(report.forecast.round_trip),
            "forecast_ratio": report.forecast.ratio,
            "local_load": report.forecast.local_load,
            "remote_load": report.forecast.remote_load,
            "bandwidth": known(report.bandwidth),
            "saved": report.saved,
            "memory": report.memory,
        });
    }
    record
}
