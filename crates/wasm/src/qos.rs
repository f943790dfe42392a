//! Converts the QoS of a channel from and to JavaScript. In JavaScript, `loss` is a share from 0 to
//! 1, `deadline` is in milliseconds, and rates are in messages per second.

use core::time::Duration;

use groupwire_session::{Error, Kind, Overflow, Qos, Rate};

use crate::plain::Plain;

/// Converts a QoS from JavaScript, of the type `Qos` of `web/client/src/api.ts`. A field that is
/// undefined gets its value from [`Qos::awareness`] or [`Qos::transaction`].
pub(crate) fn read(from: &Plain) -> Result<Qos, Error> {
    let mut qos = match from.text("kind").as_deref() {
        Some("transaction") => Qos::transaction(),
        Some("awareness") => Qos::awareness(),
        _ => return wrong("kind is \"transaction\" or \"awareness\""),
    };
    match from.text("overflow").as_deref() {
        None => {}
        Some("conflate") => qos.overflow = Overflow::Conflate,
        Some("aggregate") => qos.overflow = Overflow::Aggregate,
        Some(_) => return wrong("overflow is \"conflate\" or \"aggregate\""),
    }
    if let Some(loss) = from.number("loss") {
        qos.loss = whole(loss * 1000.0, 1000, "loss is a share from 0 to 1")? as u16;
    }
    if let Some(deadline) = from.number("deadline") {
        let ms = whole(deadline, u32::MAX, "deadline is in milliseconds")?;
        qos.deadline = Some(Duration::from_millis(ms.into()));
    }
    if let Some(rate) = from.number("minRate") {
        qos.rate_min = self::rate(rate, "minRate is in messages per second")?;
    }
    if let Some(rate) = from.number("maxRate") {
        qos.rate_max = self::rate(rate, "maxRate is in messages per second")?;
    }
    if let Some(value) = from.number("priority") {
        qos.priority = priority(value)?;
    }
    if let Some(value) = from.number("speakers") {
        // web/client/src/options.ts has checked that it is a whole number from 0 to 15.
        qos.speakers = value as u8;
    }
    qos.private = from.flag("private").unwrap_or(false);
    qos.departures = from.flag("departures").unwrap_or(false);
    Ok(qos)
}

/// Converts a QoS to JavaScript. If the QoS has no deadline, or does not limit a rate, the object
/// lacks that field.
pub(crate) fn write(qos: &Qos) -> Plain {
    let mut object = Plain::new()
        .with("kind", if qos.kind == Kind::Awareness { "awareness" } else { "transaction" })
        .with("overflow", if qos.overflow == Overflow::Conflate { "conflate" } else { "aggregate" })
        .with("priority", f64::from(qos.priority))
        .with("private", qos.private)
        .with("departures", qos.departures)
        .with("speakers", f64::from(qos.speakers))
        .with("loss", f64::from(qos.loss) / 1000.0);
    if let Some(deadline) = qos.deadline {
        object = object.with("deadline", crate::millis(deadline));
    }
    if !qos.rate_min.is_zero() {
        object = object.with("minRate", qos.rate_min.hertz());
    }
    if !qos.rate_max.is_zero() {
        object = object.with("maxRate", qos.rate_max.hertz());
    }
    object
}

/// Converts a rate limit in values per second, which must be above 0.
pub(crate) fn limit(per_second: f64) -> Result<Rate, Error> {
    let rate = rate(per_second, LIMIT)?;
    if rate.is_zero() { wrong(LIMIT) } else { Ok(rate) }
}

fn rate(per_second: f64, why: &'static str) -> Result<Rate, Error> {
    whole(per_second * 1000.0, u32::MAX, why).map(Rate::from_millihertz)
}

const LIMIT: &str = "a rate is in messages per second, above 0; undefined: all";

pub(crate) fn priority(value: f64) -> Result<u8, Error> {
    whole(value, 255, "priority is from 0 to 255").map(|value| value as u8)
}

/// Rounds `value` to a whole number. Fails with `why` unless `value` is from 0 to `most`.
fn whole(value: f64, most: u32, why: &'static str) -> Result<u32, Error> {
    // 0.5 is added before the cast, because the cast cuts off the fraction. `round` would link the
    // mathematics library.
    let rounded = (value + 0.5) as u32;
    if value >= 0.0 && value <= f64::from(most) { Ok(rounded) } else { wrong(why) }
}

fn wrong<T>(why: &'static str) -> Result<T, Error> {
    Err(Error::InvalidQos { why })
}
