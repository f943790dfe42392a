//! Gives memory that glibc's allocator keeps for later back to the system. All unsafe code of this
//! crate is here.
//!
//! glibc gives back only free memory at the end of a heap. One connection that is still open there
//! keeps all memory before it: of 1,000 people who had left a room, 29 KB each stayed.
//! `malloc_trim` gives back each free page, wherever it is.

/// The function that the server calls when much memory has become free; `None` with other
/// allocators.
pub(crate) const GIVE_BACK: Option<fn()> = glibc::GIVE_BACK;

#[cfg(all(target_os = "linux", target_env = "gnu"))]
#[allow(unsafe_code)]
mod glibc {
    pub(super) const GIVE_BACK: Option<fn()> = Some(give_back);

    fn give_back() {
        // SAFETY: it takes a number, no pointer, may be called by any thread at any time, and
        // touches only memory that is free.
        unsafe { libc::malloc_trim(0) };
    }
}

#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
mod glibc {
    pub(super) const GIVE_BACK: Option<fn()> = None;
}

#[cfg(all(test, target_os = "linux", target_env = "gnu"))]
mod tests {
    use super::GIVE_BACK;

    /// Resident memory of this process, in bytes.
    fn resident() -> usize {
        let status = std::fs::read_to_string("/proc/self/status").expect("Linux's /proc");
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).expect("VmRSS");
        line.trim().trim_end_matches("kB").trim().parse::<usize>().expect("a number") * 1024
    }

    #[test]
    fn memory_between_blocks_that_are_in_use_is_given_back() {
        const SIZE: usize = 64 << 10;
        const COUNT: usize = 512;
        // The blocks are small enough to be parts of the heap, and the last one stays, so that the
        // heap's end is not free.
        let mut blocks: Vec<Vec<u8>> = (0..COUNT).map(|_| vec![1; SIZE]).collect();
        let last = blocks.pop();
        drop(blocks);
        let before = resident();
        GIVE_BACK.unwrap()();
        let given = before.saturating_sub(resident());
        assert!(given > SIZE * COUNT / 2, "{given} of {} bytes", SIZE * COUNT);
        drop(last);
    }
}
