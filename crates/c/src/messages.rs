//! Sending.
#![allow(unsafe_code)]

use groupwire_ffi::{Error, Recipient, SendOptions};

use crate::arguments::{bytes, check_out, put, put_optional, structure};
use crate::call::call;
use crate::table::find;
use crate::types::*;

/// Sends a message, or queues it until there is a connection. `options` and `sent`, to which a
/// gw_sent is written, may be null; with GW_SENT_NOT_NOW the message was not taken.
///
/// # Safety
/// `message` points to `len` bytes, `options` is filled in, `sent` points to a number.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gw_send(
    room: gw_room,
    channel: u32,
    message: *const u8,
    len: usize,
    options: *const gw_send_options,
    sent: *mut u32,
) -> u32 {
    // SAFETY: as this function's.
    call(|| unsafe {
        put_optional("`sent`", sent, || {
            let (message, options) = (bytes("`message`", message, len)?, read(options)?);
            Ok(find(room)?.room.send(channel, message, &options)? as u32)
        })
    })
}

/// # Safety
/// The pointers are null or valid.
unsafe fn read(options: *const gw_send_options) -> Result<SendOptions, Error> {
    // SAFETY: as this function's.
    unsafe {
        let Some(options) = structure("`options`", options)? else {
            return Ok(SendOptions::default());
        };
        let key = match options.key.is_null() && options.key_len == 0 {
            true => None,
            false => Some(bytes("`key`", options.key, options.key_len)?.to_vec()),
        };
        let to = Recipient { participant: options.to, tag: options.tag };
        Ok(SendOptions {
            text: options.text != 0,
            key,
            priority: (options.has_priority != 0).then_some(options.priority),
            to: (options.to != 0).then_some(to),
        })
    }
}

/// Writes a ticket for all own transactions up to now, for gw_is_confirmed.
///
/// # Safety
/// `ticket` points to a number.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gw_ticket(room: gw_room, ticket: *mut u32) -> u32 {
    call(|| {
        check_out("`ticket`", ticket)?;
        let number = find(room)?.room.ticket()?;
        // SAFETY: checked, and a number as the caller says.
        unsafe { put(ticket, number) };
        Ok(())
    })
}

/// Writes 1 once the server has confirmed all own transactions up to the ticket: they are in the
/// room's order and, in a stored room, durable. It can become 1 with any polled event.
///
/// # Safety
/// `confirmed` points to an int.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gw_is_confirmed(room: gw_room, ticket: u32, confirmed: *mut i32) -> u32 {
    call(|| {
        check_out("`confirmed`", confirmed)?;
        let is_confirmed = find(room)?.room.is_confirmed(ticket)?;
        // SAFETY: checked, and an int as the caller says.
        unsafe { put(confirmed, i32::from(is_confirmed)) };
        Ok(())
    })
}

/// Writes how many own transactions are not confirmed.
///
/// # Safety
/// `count` points to a number.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gw_pending(room: gw_room, count: *mut u64) -> u32 {
    call(|| {
        check_out("`count`", count)?;
        let pending = find(room)?.room.pending()?;
        // SAFETY: checked, and a number as the caller says.
        unsafe { put(count, pending) };
        Ok::<(), Error>(())
    })
}
