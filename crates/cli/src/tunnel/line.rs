//! The status of a connection as one line of text.

use std::time::Duration;

use groupwire_tunnel::Status;

/// The titles of the columns, aligned with the text of [`line()`].
pub(super) fn heading() -> String {
    columns(Columns {
        route: "route",
        peer: "from",
        codec: "codec",
        sent: "sent",
        sent_ratio: "size",
        received: "received",
        received_ratio: "size",
        forecast: "forecast",
        measured: "measured",
        saved: "saved",
        age: "age",
        note: "",
    })
}

/// The line of an open connection, or of a connection that has just ended. The column `size` is the
/// bytes on the wire in percent of the program's bytes.
pub(super) fn line(status: &Status) -> String {
    let note = match &status.outcome {
        None => "",
        Some(Ok(())) => "ended",
        Some(Err(why)) => why,
    };
    let peer = status.peer.to_string();
    let age = time(status.age.as_secs_f64());
    let start =
        Columns { route: &status.route, peer: &peer, age: &age, note, ..Columns::default() };
    let Some(report) = &status.report else { return columns(start) };
    let codec = if status.may_pack { report.candidate.to_string() } else { "never".to_owned() };
    columns(Columns {
        codec: &codec,
        sent: &size(report.plain_out),
        sent_ratio: &percent(report.wire_out, report.plain_out),
        received: &size(report.plain_in),
        received_ratio: &percent(report.wire_in, report.plain_in),
        forecast: &rate(report.forecast.bandwidth),
        measured: &rate(report.bandwidth),
        saved: &saved(report.saved),
        ..start
    })
}

#[derive(Default)]
struct Columns<'a> {
    route: &'a str,
    peer: &'a str,
    codec: &'a str,
    sent: &'a str,
    sent_ratio: &'a str,
    received: &'a str,
    received_ratio: &'a str,
    forecast: &'a str,
    measured: &'a str,
    saved: &'a str,
    age: &'a str,
    note: &'a str,
}

fn columns(columns: Columns<'_>) -> String {
    let Columns { route, peer, codec, sent, sent_ratio, received, received_ratio, .. } = columns;
    let Columns { forecast, measured, saved, age, note, .. } = columns;
    let text = format!(
        "{route:<10} {peer:<21} {codec:<16} {sent:>8} {sent_ratio:>5} {received:>8} {received_ratio:>5} \
         {forecast:>10} {measured:>10} {saved:>8} {age:>8}  {note}"
    );
    text.trim_end().to_owned()
}

/// Formats a number of bytes with three digits.
fn size(bytes: u64) -> String {
    let mut value = bytes as f64;
    for unit in ["B", "kB", "MB", "GB"] {
        if value < 999.5 {
            return format!("{} {unit}", three_digits(value, bytes < 1000));
        }
        value /= 1000.0;
    }
    format!("{} TB", three_digits(value, false))
}

/// Formats bytes per second as bits per second; 0 means unknown.
fn rate(bytes: f64) -> String {
    let mut value = bytes * 8.0 / 1000.0;
    if value <= 0.0 || !value.is_finite() {
        return "-".to_owned();
    }
    for unit in ["kbit/s", "Mbit/s"] {
        if value < 999.5 {
            return format!("{} {unit}", three_digits(value, false));
        }
        value /= 1000.0;
    }
    format!("{} Gbit/s", three_digits(value, false))
}

fn three_digits(value: f64, is_whole: bool) -> String {
    let decimals = match value {
        _ if is_whole => 0,
        ..9.995 => 2,
        ..99.95 => 1,
        _ => 0,
    };
    format!("{value:.decimals$}")
}

fn percent(wire: u64, plain: u64) -> String {
    match plain {
        0 => "-".to_owned(),
        plain => format!("{:.0}%", (100.0 * wire as f64 / plain as f64).min(999.0)),
    }
}

/// Formats the seconds that compression saved; negative if it lost time.
fn saved(seconds: f64) -> String {
    match seconds {
        seconds if seconds.abs() < 0.05 || !seconds.is_finite() => "-".to_owned(),
        seconds if seconds < 0.0 => format!("-{}", time(-seconds)),
        seconds => time(seconds),
    }
}

fn time(seconds: f64) -> String {
    let whole = Duration::from_secs_f64(seconds.clamp(0.0, 1e9)).as_secs();
    match whole {
        ..60 => format!("{seconds:.1} s"),
        60..3600 => format!("{}m {:02}s", whole / 60, whole % 60),
        _ => format!("{}h {:02}m", whole / 3600, whole / 60 % 60),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantities_have_three_digits() {
        let sizes = [0, 999, 1000, 99_949, 999_499, 999_500, 12_345_678, 5_000_000_000_000];
        let short =
            ["0 B", "999 B", "1.00 kB", "99.9 kB", "999 kB", "1.00 MB", "12.3 MB", "5.00 TB"];
        assert_eq!(sizes.map(size), short.map(str::to_owned));
        assert_eq!(rate(0.0), "-");
        assert_eq!(rate(212_500.0), "1.70 Mbit/s");
        assert_eq!(rate(1.25e9), "10.0 Gbit/s");
        assert_eq!(rate(f64::NAN), "-");
        assert_eq!(
            (percent(25, 100), percent(0, 0), percent(108, 10)),
            ("25%".into(), "-".into(), "999%".into())
        );
        assert_eq!(
            [0.0, 12.34, -3.0, 64.9, 7322.0].map(saved),
            ["-", "12.3 s", "-3.0 s", "1m 04s", "2h 02m"]
        );
    }

    #[test]
    fn the_heading_is_aligned() {
        let heading = heading();
        assert!(heading.starts_with("route      from "));
        assert!(heading.ends_with("age"));
    }
}
