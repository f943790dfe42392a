//! Checks the pointers that C passes.
#![allow(unsafe_code)]

use std::ffi::{CStr, c_char};

use groupwire_ffi::Error;

/// The bytes at a pointer. Null is allowed for no bytes.
///
/// # Safety
/// If the pointer is not null, `len` bytes can be read there as long as the result is used.
pub(crate) unsafe fn bytes<'a>(
    name: &str,
    bytes: *const u8,
    len: usize,
) -> Result<&'a [u8], Error> {
    if len == 0 {
        return Ok(&[]);
    }
    if bytes.is_null() || isize::try_from(len).is_err() {
        return Err(Error::argument(name, format!("a pointer to {len} bytes, not null")));
    }
    // SAFETY: not null, not longer than any object; the caller says that it can be read.
    Ok(unsafe { std::slice::from_raw_parts(bytes, len) })
}

/// The text at a pointer, up to its NUL.
///
/// # Safety
/// If the pointer is not null, it points to bytes that end with NUL, and stay as long as the result
/// is used.
pub(crate) unsafe fn text<'a>(name: &str, text: *const c_char) -> Result<&'a str, Error> {
    // SAFETY: as this function's.
    let text = unsafe { optional_text(name, text)? };
    text.ok_or_else(|| Error::argument(name, "a text, not null"))
}

/// The text at a pointer, or `None` for null.
///
/// # Safety
/// That of [`text`].
pub(crate) unsafe fn optional_text<'a>(
    name: &str,
    text: *const c_char,
) -> Result<Option<&'a str>, Error> {
    if text.is_null() {
        return Ok(None);
    }
    // SAFETY: not null, and ends with NUL, as the caller says.
    let text = unsafe { CStr::from_ptr(text) };
    let text = text.to_str().map_err(|_| Error::argument(name, "valid UTF-8"))?;
    Ok(Some(text))
}

/// The structure at a pointer, or `None` for null.
///
/// # Safety
/// If the pointer is not null and aligned, a `T` can be read there. `T` is valid with any bits.
pub(crate) unsafe fn structure<T: Copy>(name: &str, value: *const T) -> Result<Option<T>, Error> {
    if value.is_null() {
        return Ok(None);
    }
    if !value.is_aligned() {
        return Err(Error::argument(name, "an aligned pointer"));
    }
    // SAFETY: not null, aligned, readable as the caller says.
    Ok(Some(unsafe { value.read() }))
}

/// Checks a pointer that a result is written to.
pub(crate) fn check_out<T>(name: &str, out: *mut T) -> Result<(), Error> {
    if out.is_null() || !out.is_aligned() {
        return Err(Error::argument(name, "an aligned pointer, not null"));
    }
    Ok(())
}

/// Writes a result to a pointer that [`check_out`] checked.
///
/// # Safety
/// A `T` can be written there.
pub(crate) unsafe fn put<T>(out: *mut T, value: T) {
    // SAFETY: checked, and writable as the caller says.
    unsafe { out.write(value) }
}

/// Runs `make`, and writes its result to a pointer, which may be null. The pointer is checked
/// before, so that nothing happens if it is misaligned.
///
/// # Safety
/// If the pointer is not null and aligned, a `T` can be written there.
pub(crate) unsafe fn put_optional<T>(
    name: &str,
    out: *mut T,
    make: impl FnOnce() -> Result<T, Error>,
) -> Result<(), Error> {
    if out.is_null() {
        return make().map(drop);
    }
    check_out(name, out)?;
    let value = make()?;
    // SAFETY: checked, and writable as the caller says.
    unsafe { put(out, value) };
    Ok(())
}

#[cfg(test)]
mod tests {
    use groupwire_ffi::Code;

    use super::*;

    #[test]
    fn null_and_misaligned_pointers_are_refused() {
        let numbers = [0u64; 2];
        let misaligned = numbers.as_ptr().wrapping_byte_add(1);
        // SAFETY: a pointer that may not be read is refused before that.
        unsafe {
            assert_eq!(bytes("`x`", std::ptr::null(), 1).unwrap_err().code, Code::InvalidArgument);
            assert_eq!(bytes("`x`", std::ptr::null(), 0), Ok(&[][..]));
            assert!(bytes("`x`", numbers.as_ptr().cast(), usize::MAX).is_err());
            assert!(text("`x`", std::ptr::null()).is_err());
            assert!(text("`x`", c"\xff".as_ptr()).is_err());
            assert_eq!(text("`x`", c"text".as_ptr()), Ok("text"));
            assert!(structure("`x`", misaligned).is_err());
            assert_eq!(structure("`x`", numbers.as_ptr()), Ok(Some(0)));
        }
        assert!(check_out("`x`", misaligned.cast_mut()).is_err());
        assert!(check_out::<u64>("`x`", std::ptr::null_mut()).is_err());
    }

    #[test]
    fn a_result_that_is_not_wanted_is_made_and_one_without_a_place_is_not() {
        let mut numbers = [0u64; 2];
        let out = numbers.as_mut_ptr();
        let mut times_made = 0;
        let mut make = || {
            times_made += 1;
            Ok::<u64, Error>(7)
        };
        // SAFETY: `out` points to a number, and a misaligned pointer is refused.
        unsafe {
            assert_eq!(put_optional("`x`", std::ptr::null_mut(), &mut make), Ok(()));
            assert_eq!(put_optional("`x`", out, &mut make), Ok(()));
            assert!(put_optional("`x`", out.wrapping_byte_add(1), &mut make).is_err());
        }
        assert_eq!((times_made, numbers), (2, [7, 0]));
    }
}
