//! The memory allocator and the panic handler, which `std` would bring along. With the panic messages of `std`, which
//! nobody reads in a browser, the module would be a tenth larger.

use core::panic::PanicInfo;

/// The allocator that std has for this target.
#[global_allocator]
static ALLOCATOR: dlmalloc::GlobalDlmalloc = dlmalloc::GlobalDlmalloc;

/// Aborts the module without a message: JavaScript sees a `RuntimeError`.
#[panic_handler]
fn panic(_: &PanicInfo<'_>) -> ! {
    core::arch::wasm32::unreachable()
}
