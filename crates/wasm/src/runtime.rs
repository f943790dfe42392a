//! What std would bring along: memory and panics. Its way to report a panic, which nobody reads in a browser, would be a
//! tenth of the module.

use core::panic::PanicInfo;

/// The allocator that std has for this target.
#[global_allocator]
static ALLOCATOR: dlmalloc::GlobalDlmalloc = dlmalloc::GlobalDlmalloc;

/// Ends the module, as std does here when it has nowhere to print: JavaScript sees a `RuntimeError`.
#[panic_handler]
fn panic(_: &PanicInfo<'_>) -> ! {
    core::arch::wasm32::unreachable()
}
