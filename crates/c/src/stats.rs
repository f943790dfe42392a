//! The state of a room, and counts.
#![allow(unsafe_code)]

use groupwire_ffi::Contract;

use crate::arguments::{check_out, put};
use crate::call::call;
use crate::table::find;
use crate::types::*;

/// The state of a room, and totals since gw_connect.
#[derive(Debug, Clone, Copy)]
#[repr(C)]
pub struct gw_stats {
    /// A gw_status, as of the last polled event.
    pub status: u32,
    /// A gw_durability.
    pub durability: u32,
    /// This participant's number; 0 before it has joined.
    pub participant: u32,
    /// Messages handed to the transport.
    pub messages_out: u64,
    /// Their bytes.
    pub bytes_out_before: u64,
    /// The bytes of the packets that carried them.
    pub bytes_out_after: u64,
    /// Packets handed to the transport.
    pub packets_out: u64,
    /// Packets that were sent as datagrams.
    pub datagrams_out: u64,
    /// Messages delivered.
    pub messages_in: u64,
    /// Their bytes.
    pub bytes_in_before: u64,
    /// The bytes of the packets that carried them.
    pub bytes_in_after: u64,
    /// Packets received.
    pub packets_in: u64,
    /// Packets that came as datagrams.
    pub datagrams_in: u64,
    /// Awareness values replaced by newer ones before they were sent.
    pub conflated: u64,
    /// How often the session was resumed after its transport was lost.
    pub reconnects: u64,
    /// The smoothed round-trip time in milliseconds; 0 before the first measurement.
    pub round_trip_ms: f64,
}

/// Whether a channel's contract is kept, judged by what this participant receives.
#[derive(Debug, Clone, Copy)]
#[repr(C)]
pub struct gw_contract_report {
    /// A gw_contract_state.
    pub state: u32,
    /// Messages of the last ten seconds that were received, or are known to be missing.
    pub judged: u64,
    /// Of these, messages that were not received, or too late.
    pub missed: u64,
    /// Of these, messages that were received too late.
    pub late: u64,
    /// The median age of received messages in milliseconds.
    pub median_ms: f64,
    /// The age in milliseconds that 1 % of received messages exceed.
    pub p99_ms: f64,
}

/// Writes the state of a room, and its counts.
///
/// # Safety
/// `stats` points to a gw_stats.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gw_get_stats(room: gw_room, stats: *mut gw_stats) -> u32 {
    call(|| {
        check_out("`stats`", stats)?;
        let room = &find(room)?.room;
        let counts = room.stats()?;
        let durability = room.durability()?;
        let written = gw_stats {
            status: room.status()? as u32,
            durability: durability.map_or(gw_durability::Unknown as u32, |one| one as u32),
            participant: room.participant()?.unwrap_or(0),
            messages_out: counts.messages_out,
            bytes_out_before: counts.bytes_out_before,
            bytes_out_after: counts.bytes_out_after,
            packets_out: counts.packets_out,
            datagrams_out: counts.datagrams_out,
            messages_in: counts.messages_in,
            bytes_in_before: counts.bytes_in_before,
            bytes_in_after: counts.bytes_in_after,
            packets_in: counts.packets_in,
            datagrams_in: counts.datagrams_in,
            conflated: counts.conflated,
            reconnects: counts.reconnects,
            round_trip_ms: counts.round_trip_ms,
        };
        // SAFETY: checked, and a gw_stats as the caller says.
        unsafe { put(stats, written) };
        Ok(())
    })
}

/// Writes whether the contract of a channel is kept; GW_CONTRACT_STATE_MET and zeros before the
/// channel is open.
///
/// # Safety
/// `report` points to a gw_contract_report.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gw_contract(
    room: gw_room,
    channel: u32,
    report: *mut gw_contract_report,
) -> u32 {
    call(|| {
        check_out("`report`", report)?;
        let found = find(room)?.room.contract(channel)?;
        // SAFETY: checked, and a gw_contract_report as the caller says.
        unsafe { put(report, found.map_or(MET, written)) };
        Ok(())
    })
}

/// Fails with GW_CODE_UNREACHABLE, and a gw_error_text that says why, if the last attempt to
/// connect failed. The client keeps trying.
#[unsafe(no_mangle)]
pub extern "C" fn gw_trouble(room: gw_room) -> u32 {
    call(|| find(room)?.room.trouble()?.map_or(Ok(()), Err))
}

const MET: gw_contract_report =
    gw_contract_report { state: 0, judged: 0, missed: 0, late: 0, median_ms: 0.0, p99_ms: 0.0 };

fn written(contract: Contract) -> gw_contract_report {
    gw_contract_report {
        state: contract.state as u32,
        judged: contract.recent.judged,
        missed: contract.recent.missed,
        late: contract.recent.late,
        median_ms: contract.median_ms,
        p99_ms: contract.p99_ms,
    }
}
