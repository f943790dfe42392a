//! Channels and what they need.
#![allow(unsafe_code)]

use std::ffi::c_char;

use groupwire_ffi::{ChannelOptions, Error, Qos};

use crate::arguments::{check_out, optional_text, put, structure, text};
use crate::call::call;
use crate::table::find;
use crate::types::*;

/// The QoS of messages that must all arrive, once and in order.
#[unsafe(no_mangle)]
pub extern "C" fn gw_qos_transaction() -> gw_qos {
    Qos::transaction().into()
}

/// The QoS of values that newer ones replace, of which 5 % may be lost.
#[unsafe(no_mangle)]
pub extern "C" fn gw_qos_awareness() -> gw_qos {
    Qos::awareness().into()
}

/// The QoS of frames of sound (docs/voice.md): each is of use for 180 ms, and those of the four
/// loudest senders are passed on.
#[unsafe(no_mangle)]
pub extern "C" fn gw_qos_voice() -> gw_qos {
    Qos::voice().into()
}

/// Opens a channel, now or as soon as there is a connection, and writes its number in this room. A
/// channel that is open already keeps its QoS and options. `options` may be null.
///
/// # Safety
/// `name` ends with NUL, `qos` and `options` are filled in, `channel` points to a number.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gw_channel(
    room: gw_room,
    name: *const c_char,
    qos: *const gw_qos,
    options: *const gw_channel_options,
    channel: *mut u32,
) -> u32 {
    call(|| {
        check_out("`channel`", channel)?;
        // SAFETY: checked; the caller passes valid pointers.
        let (name, qos, options) = unsafe {
            put(channel, GW_NO_CHANNEL);
            (text("`name`", name)?, read_qos(qos)?, read_options(options)?)
        };
        let number = find(room)?.room.channel(name, qos, &options)?;
        // SAFETY: as above.
        unsafe { put(channel, number) };
        Ok(())
    })
}

/// Ends this participant's part in a channel, after what waits on it was sent and confirmed. Then
/// comes GW_EVENT_TYPE_CLOSED.
#[unsafe(no_mangle)]
pub extern "C" fn gw_close_channel(room: gw_room, channel: u32) -> u32 {
    call(|| find(room)?.room.close_channel(channel))
}

/// Asks for another QoS of a channel, for all its participants. GW_EVENT_TYPE_OPENED or
/// GW_EVENT_TYPE_FAILED answers.
///
/// # Safety
/// `qos` is filled in.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gw_set_qos(room: gw_room, channel: u32, qos: *const gw_qos) -> u32 {
    // SAFETY: as this function's.
    call(|| find(room)?.room.set_qos(channel, unsafe { read_qos(qos)? }))
}

/// Asks for at most this many values of each key per second of a conflated channel, always the
/// newest; 0 for all.
#[unsafe(no_mangle)]
pub extern "C" fn gw_limit_rate(room: gw_room, channel: u32, per_second: f64) -> u32 {
    call(|| find(room)?.room.limit_rate(channel, per_second))
}

/// Changes how a channel's messages are compressed between this participant and the server.
///
/// # Safety
/// `compress` ends with NUL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gw_set_compress(
    room: gw_room,
    channel: u32,
    compress: *const c_char,
) -> u32 {
    // SAFETY: as this function's.
    call(|| find(room)?.room.set_compress(channel, unsafe { text("`compress`", compress)? }))
}

/// # Safety
/// The pointer is null or valid.
unsafe fn read_qos(qos: *const gw_qos) -> Result<Qos, Error> {
    // SAFETY: as this function's.
    let qos = unsafe { structure("`qos`", qos)? };
    qos.ok_or_else(|| Error::argument("`qos`", "a gw_qos, not null"))?.read()
}

/// # Safety
/// The pointers are null or valid.
unsafe fn read_options(options: *const gw_channel_options) -> Result<ChannelOptions, Error> {
    // SAFETY: as this function's.
    unsafe {
        let Some(options) = structure("`options`", options)? else {
            return Ok(ChannelOptions::default());
        };
        Ok(ChannelOptions {
            publish: options.receive_only == 0,
            subscribe: options.send_only == 0,
            compress: optional_text("`compress`", options.compress)?.unwrap_or_default().to_owned(),
        })
    }
}
