#!/usr/bin/env bash
# Builds what other languages link, for Linux with glibc 2.17 or newer, into FOLDER: the wheels of Python, the sources that pip builds
# elsewhere, and for each architecture an archive with the C library: libraries.sh FOLDER [ARCHITECTURE...] (x86_64, aarch64; without
# any, both).
set -euo pipefail
# shellcheck source=scripts/release/common.sh
. "$(dirname "$0")/common.sh"

folder=$(realpath -m "$1")
architectures=("${@:2}")
if ((${#architectures[@]} == 0)); then architectures=(x86_64 aarch64); fi
glibc=2.17
# Before 1.0 every minor version may break programs that link it.
soname=libgroupwire.so.${version%.*}

main() {
    local tools_of_rust
    tools_of_rust=$(rustc --print sysroot)/lib/rustlib/$(rustc -vV | sed -n 's/^host: //p')/bin
    if [[ ! -x $tools_of_rust/llvm-objcopy ]]; then rustup component add llvm-tools; fi
    objcopy=$tools_of_rust/llvm-objcopy
    tools=$(scripts/release/zigbuild.sh)
    export CARGO_ZIGBUILD_ZIG_PATH=$tools/ziglang/zig
    mkdir -p "$folder/python" "$folder/.unpacked"
    for architecture in "${architectures[@]}"; do
        add_target "$architecture-unknown-linux-gnu"
        echo "libraries: building for $architecture (the first time some 10 minutes on 2 cores)"
        build_wheel "$architecture"
        build_c "$architecture"
        pack_c "$architecture"
    done
    "$tools/bin/maturin" sdist --manifest-path python/Cargo.toml --out "$folder/python"
}

build_wheel() {
    RUSTFLAGS=$(remapped) "$tools/bin/maturin" build --release --locked --zig --target "$1-unknown-linux-gnu" \
        --compatibility "manylinux_${glibc/./_}" --manifest-path python/Cargo.toml --out "$folder/python"
}

build_c() {
    RUSTFLAGS=$(remapped) "$tools/bin/cargo-zigbuild" rustc --locked --release --target "$1-unknown-linux-gnu.$glibc" \
        --package groupwire-c --lib --crate-type cdylib,staticlib -- -C strip=symbols -C link-arg=-Wl,-soname,"$soname"
}

pack_c() {
    local name=groupwire-c-$version-$1-linux
    local parts=$folder/.unpacked/$name built=$target_dir/$1-unknown-linux-gnu/release
    rm -rf "$parts"
    mkdir -p "$parts/include" "$parts/lib/pkgconfig"
    install -m 0644 crates/c/include/groupwire.h "$parts/include"
    install -m 0755 "$built/libgroupwire.so" "$parts/lib/$soname"
    ln -s "$soname" "$parts/lib/libgroupwire.so"
    install -m 0644 "$built/libgroupwire.a" "$parts/lib"
    # Where zig compiled C is in it otherwise, and it is a third larger.
    "$objcopy" --strip-debug "$parts/lib/libgroupwire.a"
    sed "s/@VERSION@/$version/" packaging/groupwire.pc > "$parts/lib/pkgconfig/groupwire.pc"
    cp LICENSE-APACHE LICENSE-MIT "$parts"
    archive "$folder/$name.tar.gz" "$folder/.unpacked" "$name"
    rm -rf "$parts"
    echo "libraries: wrote $name.tar.gz, $(stat --format %s "$folder/$name.tar.gz") bytes"
}

main
