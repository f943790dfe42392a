//! Writes the Kotlin and Swift sources for the library of the folder `uniffi`.

fn main() {
    uniffi::uniffi_bindgen_main();
}
