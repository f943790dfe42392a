//! The allocator of static programs. That of musl has one lock for all threads, so that the threads
//! of tokio wait for each other. glibc's has several arenas, and is not replaced.

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;
