#!/usr/bin/env bash
# Builds crates/wasm, the browser's core, and crates/wasm-codecs and crates/wasm-brotli, which are loaded later, into
# web/client/wasm/: for each groupwire_NAME.js, groupwire_NAME_bg.wasm and their types. The core is there in one file, and
# split into two parts, groupwire_wasm_first.wasm and groupwire_wasm_second.wasm. With them crates/wasm-room and
# crates/wasm-room-page, the rooms of the testing kit in Node and in a page.
#
# The compiler is the user's own with its wasm32 target, added by rustup if it is missing. Where rustup cannot
# (offline mirrors, distributions' toolchains), Debian's packaged compiler builds the target's standard library
# from source. GROUPWIRE_WASM_TOOLCHAIN=packaged takes that way at once.
set -euo pipefail
cd "$(dirname "$0")/.."

target=wasm32-unknown-unknown
# Apart from target/, so that the two compilers do not invalidate each other's work.
target_dir=$PWD/target/wasm
out=web/client/wasm
tools=$PWD/.cache/tools
bindgen=$tools/bindgen/debug/groupwire-bindgen
wasm_opt=web/node_modules/.bin/wasm-opt

main() {
    make_module wasm
    make_module wasm-codecs
    make_module wasm-brotli
    # The testing kit's (build.sh says when it is left out).
    if [[ -z ${GROUPWIRE_WITHOUT_TESTING:-} ]]; then
        make_module wasm-room
        make_module wasm-room-page
        pack_page
    fi
}

# The module of the crate with this name.
make_module() {
    # One by one: together they would get each other's features.
    build "groupwire-$1"
    local name=groupwire_${1//-/_}
    local built=$target_dir/$target/wasm/$name.wasm
    if [[ $out/${name}_bg.wasm -nt $built ]]; then
        echo "wasm: $out/$name is up to date, $(gzipped_size "$name") bytes gzipped"
        return
    fi
    # Made aside and moved at the end: an interrupted run must not leave output that looks up to date.
    local made=$target_dir/bindgen/$1
    rm -rf "$made"
    bind "$built" "$made"
    trim "$made/${name}_bg.wasm"
    if [[ -f crates/$1/second.txt ]]; then
        split "crates/$1" "$made/$name"
    fi
    finish "$made/${name}_bg.wasm"
    mkdir -p "$out"
    # JavaScript of our own that the module calls.
    if [[ -d $made/snippets ]]; then
        rm -rf "$out/snippets"
        mv "$made/snippets" "$out/"
    fi
    mv "$made/$name.js" "$made"/*.d.ts "$made"/*.wasm "$out/"
    touch "$out/${name}_bg.wasm"
    echo "wasm: wrote $out/$name, $(gzipped_size "$name") bytes gzipped"
}

# What a page with the testing kit loads first: the room and the first part of the core in one file. Both contain the protocol, so that
# LZMA, which finds what is repeated at any distance, makes of them two thirds of what gzip makes.
pack_page() {
    local page=$out/groupwire_wasm_page.lzma
    local parts=("$out/groupwire_wasm_room_page_bg.wasm" "$out/groupwire_wasm_first.wasm")
    if [[ $page -nt ${parts[0]} && $page -nt ${parts[1]} ]]; then return; fi
    "$bindgen" pack "$page.new" "${parts[@]}"
    mv "$page.new" "$page"
    echo "wasm: wrote $page, $(wc -c < "$page") bytes"
}

build() {
    local args=(build --profile wasm --package "$1" --target "$target" --target-dir "$target_dir")
    if [[ -n ${CI:-} ]]; then args+=(--locked); fi

    if [[ ${GROUPWIRE_WASM_TOOLCHAIN:-} != packaged ]] && { has_target || add_target; }; then
        cargo "${args[@]}"
        return
    fi
    has_packaged || install_packaged
    # RUSTC as well as cargo: cargo would otherwise start the first rustc on PATH, which may be rustup's.
    # RUSTC_BOOTSTRAP lets a stable compiler take -Z build-std, needed as Debian has no standard library for
    # this target.
    RUSTC=$(packaged rustc) RUSTC_BOOTSTRAP=1 \
        CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_LINKER=$(packaged_linker) \
        "$(packaged cargo)" "${args[@]}" -Z build-std=std,panic_abort
}

has_target() {
    local libdir
    libdir=$(rustc --print target-libdir --target "$target" 2>/dev/null) && [[ -d $libdir ]]
}

add_target() {
    # Once the packaged compiler is here it was needed before: do not ask rustup again at every build.
    if has_packaged || ! command -v rustup >/dev/null; then return 1; fi
    echo "wasm: adding Rust's $target target"
    rustup target add "$target" && has_target
}

# The packaged rustc or cargo, whatever comes first on PATH.
packaged() {
    dpkg -L "$1-web" 2>/dev/null | grep "^/[^/]*/bin/$1\$"
}

# Its linker is of the same LLVM as the compiler.
packaged_llvm() {
    local rustc
    rustc=$(packaged rustc) && "$rustc" -vV | sed -n 's/^LLVM version: \([0-9]*\).*/\1/p'
}

packaged_linker() {
    local llvm
    llvm=$(packaged_llvm) && command -v "wasm-ld-$llvm"
}

has_packaged() {
    command -v dpkg >/dev/null && packaged rustc >/dev/null && packaged cargo >/dev/null &&
        dpkg -s rust-web-src >/dev/null 2>&1 && packaged_linker >/dev/null
}

install_packaged() {
    echo "wasm: rustup has no $target target here; installing Debian's compiler for it"
    if ! { scripts/apt-install.sh rustc-web cargo-web rust-web-src &&
        scripts/apt-install.sh "lld-$(packaged_llvm)" && has_packaged; }; then
        fail "no compiler for $target. Install it with 'rustup target add $target' and run this again."
    fi
}

# bind MODULE FOLDER. Makes the module's JavaScript with wasm-bindgen's library, in a program of our own: the command
# wasm-bindgen takes several times as long to compile.
bind() {
    if [[ ! -x $bindgen ]]; then
        echo "wasm: building the tool for JavaScript bindings (once, about half a minute)"
    fi
    cargo build --quiet --locked --manifest-path scripts/bindgen/Cargo.toml --target-dir "$tools/bindgen"
    "$bindgen" bind "$1" "$2" || fail "if the versions differ: scripts/bindgen/Cargo.toml must name that of wasm-bindgen in Cargo.lock"
}

# trim MODULE. Removes what only panics need.
trim() {
    if [[ ! -x $wasm_opt ]]; then return; fi
    node scripts/trim-wasm.mjs "$1" "$1.trimmed"
    "$bindgen" clear "$1.trimmed" "$1"
    rm "$1.trimmed"
}

# split CRATE MODULE. Writes the two parts of a module, and adds functions that load them to its JavaScript.
split() {
    # The module is optimised before it is split, because the optimiser does less to functions that one part imports from the other. It must
    # not merge equal functions here, because the boundary lists functions by name.
    cp "$2_bg.wasm" "$2.named"
    optimise "$2.named" --debuginfo --skip-pass=duplicate-function-elimination
    "$bindgen" split "$2.named" "$1/second.txt" "$2_first.wasm" "$2_second.wasm"
    rm "$2.named"
    finish "$2_first.wasm"
    finish "$2_second.wasm"
    # Functions of our own load the module: those of wasm-bindgen are four times as large and load one part only.
    { sed '/^async function __wbg_load(/,$d' "$2.js" && cat "$1/load.js"; } > "$2.js.whole"
    { sed '/^export type InitInput/,$d' "$2.d.ts" && cat "$1/load.d.ts"; } > "$2.d.ts.whole"
    mv "$2.js.whole" "$2.js"
    mv "$2.d.ts.whole" "$2.d.ts"
}

# finish MODULE. Makes the module as it is downloaded: without names, and its functions in the order that compresses best.
finish() {
    optimise "$1" --strip-debug
    "$bindgen" order "$1" "$1.ordered"
    mv "$1.ordered" "$1"
}

# optimise MODULE OPTIONS...
optimise() {
    if [[ ! -x $wasm_opt ]]; then
        echo "wasm: not optimised for size, as wasm-opt is missing ('make wasm' installs it)"
        return
    fi
    # The skipped passes make the module smaller, but larger after compression. Without alignment hints, which engines do not use,
    # instructions resemble each other more.
    "$wasm_opt" "${@:2}" --strip-producers --dae-optimizing --remove-unused-module-elements -Oz \
        --skip-pass=inlining-optimizing --skip-pass=inlining --skip-pass=reorder-functions --skip-pass=local-cse \
        --dealign "$1" -o "$1.optimised"
    mv "$1.optimised" "$1"
}

gzipped_size() {
    gzip -9 -c "$out/$1_bg.wasm" | wc -c
}

fail() {
    echo "wasm: $1" >&2
    exit 1
}

main
