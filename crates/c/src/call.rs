//! What every function does: it catches panics and keeps the text of an error for the thread.

use std::cell::RefCell;
use std::ffi::{CStr, CString, c_char};
use std::panic::{AssertUnwindSafe, catch_unwind};

use groupwire_ffi::{Code, Error};

thread_local! {
    /// The text of the last call of this thread that failed.
    static TEXT: RefCell<CString> = RefCell::default();
}

/// Runs the body of a function of the C interface.
pub(crate) fn call(body: impl FnOnce() -> Result<(), Error>) -> u32 {
    // Mutexes guard all that a panic leaves behind, and their contents are consistent between
    // calls.
    let outcome = catch_unwind(AssertUnwindSafe(body)).unwrap_or_else(|_| {
        Err(Error::own(Code::Internal, "the library has failed: please report what it printed"))
    });
    let Err(error) = outcome else { return 0 };
    TEXT.with(|text| *text.borrow_mut() = c_string(error.text));
    error.code as u32
}

/// Text for C, which ends at a NUL; those in the text itself are left out.
pub(crate) fn c_string(text: impl Into<Vec<u8>>) -> CString {
    let mut bytes: Vec<u8> = text.into();
    bytes.retain(|byte| *byte != 0);
    CString::new(bytes).unwrap_or_default()
}

/// What was wrong with the last call of this thread that failed, and what to do: UTF-8 that is
/// valid until the next call of this thread that fails. Never null.
#[unsafe(no_mangle)]
#[allow(unsafe_code)]
pub extern "C" fn gw_error_text() -> *const c_char {
    TEXT.with(|text| text.borrow().as_ptr())
}

/// The word of a gw_code, such as "too-large"; "ok" for GW_CODE_OK. Never null, valid for ever.
#[unsafe(no_mangle)]
#[allow(unsafe_code)]
pub extern "C" fn gw_code_word(code: u32) -> *const c_char {
    /// The words as C needs them, made once.
    static WORDS: std::sync::OnceLock<Vec<(u32, CString)>> = std::sync::OnceLock::new();
    const OK: &CStr = c"ok";
    const UNKNOWN: &CStr = c"unknown";
    if code == 0 {
        return OK.as_ptr();
    }
    let words = WORDS.get_or_init(|| {
        Code::ALL.iter().map(|code| (*code as u32, c_string(code.word()))).collect()
    });
    let known = words.iter().find(|(number, _)| *number == code);
    known.map_or(UNKNOWN.as_ptr(), |(_, word)| word.as_ptr())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_becomes_an_error() {
        assert_eq!(call(|| panic!("a test")), Code::Internal as u32);
        assert_eq!(call(|| Ok(())), 0);
    }

    #[test]
    fn a_nul_in_a_text_does_not_end_it() {
        assert_eq!(c_string("a\0b"), CString::new("ab").unwrap());
    }
}
