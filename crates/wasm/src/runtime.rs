//! The memory allocator and the panic handler. This crate does not use `std`, which has both,
//! because the panic messages of `std` would make the WebAssembly module a tenth larger, and nobody
//! reads them in a browser.

use core::panic::PanicInfo;

/// Allocates in constant time, and is half the size of the allocator that `std` uses for
/// WebAssembly.
#[global_allocator]
static ALLOCATOR: rlsf::SmallGlobalTlsf = rlsf::SmallGlobalTlsf::new();

/// Aborts the module without a message: JavaScript sees a `RuntimeError`.
#[panic_handler]
fn panic(_: &PanicInfo<'_>) -> ! {
    core::arch::wasm32::unreachable()
}
