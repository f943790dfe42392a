#!/usr/bin/env bash
# Builds the static groupwire programs for Linux, with the pages inside, and writes into FOLDER for each an archive with the program,
# its manual pages and completions, and beside them, in FOLDER/.unpacked/ARCHITECTURE, the same files for the other steps:
# programs.sh FOLDER [ARCHITECTURE...] (x86_64, aarch64; without any, both).
set -euo pipefail
# shellcheck source=scripts/release/common.sh
. "$(dirname "$0")/common.sh"

folder=$(realpath -m "$1")
architectures=("${@:2}")
if ((${#architectures[@]} == 0)); then architectures=(x86_64 aarch64); fi

main() {
    tools=$(scripts/release/zigbuild.sh)
    export CARGO_ZIGBUILD_ZIG_PATH=$tools/ziglang/zig
    "${MAKE:-make}" --no-print-directory web
    for architecture in "${architectures[@]}"; do
        build "$architecture"
    done
    write_pages
    for architecture in "${architectures[@]}"; do
        pack "$architecture"
    done
}

build() {
    local target=$1-unknown-linux-musl
    add_target "$target"
    echo "programs: building for $target (the first time some 10 minutes on 2 cores)"
    RUSTFLAGS=$(remapped) "$tools/bin/cargo-zigbuild" rustc --locked --release --target "$target" --package groupwire-cli --bin groupwire \
        -- -C strip=symbols
    mkdir -p "$folder/.unpacked/$1"
    install -m 0755 "$target_dir/$target/release/groupwire" "$folder/.unpacked/$1/groupwire"
}

# The program for this machine writes what depends on its options alone.
write_pages() {
    local own
    own=$folder/.unpacked/$(uname -m)
    if [[ ! -x $own/groupwire ]]; then fail "this machine runs none of the programs; build for $(uname -m), too"; fi
    rm -rf "$folder/.unpacked/"{man,completions}
    "$own/groupwire" man "$folder/.unpacked/man"
    mkdir "$folder/.unpacked/completions"
    for shell in bash zsh fish; do
        "$own/groupwire" completions "$shell" > "$folder/.unpacked/completions/groupwire.$shell"
    done
}

pack() {
    local name=groupwire-$version-$1-linux
    local parts=$folder/.unpacked/$name
    rm -rf "$parts"
    mkdir "$parts"
    cp -R "$folder/.unpacked/$1/groupwire" "$folder/.unpacked/man" "$folder/.unpacked/completions" LICENSE-APACHE LICENSE-MIT "$parts"
    archive "$folder/$name.tar.gz" "$folder/.unpacked" "$name"
    rm -rf "$parts"
    echo "programs: wrote $name.tar.gz, $(stat --format %s "$folder/$name.tar.gz") bytes"
}

main
