#!/usr/bin/env bash
# Packs all Rust crates that users may take, as they would be published, into target/package, and builds each from its
# package. The pages that the server embeds go into its package; nothing that is built is committed.
#
# With --install FOLDER it also installs the packed groupwire command into that folder, as `cargo install` would, and asks it
# for its pages. With --no-verify it builds nothing. With --publish it publishes the crates instead, in the order of their
# dependencies; what follows are options of `cargo publish`, such as --dry-run.
set -euo pipefail
cd "$(dirname "$0")/.."

install=
command=(package)
case ${1:-} in
    --install) install=$(realpath -m "${2:?"--install needs a folder"}") ;;
    --no-verify) command+=(--no-verify) ;;
    --publish) command=(publish "${@:2}") ;;
esac
pages=$PWD/crates/server/pages
packages=$PWD/${CARGO_TARGET_DIR:-target}/package
if [[ ${CARGO_TARGET_DIR:-} == /* ]]; then packages=$CARGO_TARGET_DIR/package; fi

main() {
    trap 'rm -rf "$pages"' EXIT
    for page in whiteboard puzzle inspector; do
        if [[ ! -f web/$page/dist/index.html ]]; then
            echo "package: the pages are not built: run 'make package'" >&2
            exit 1
        fi
        mkdir -p "$pages/$page"
        cp -R "web/$page/dist/." "$pages/$page"
    done
    # The server embeds no file of which there is a copy compressed by gzip (crates/server/build.rs).
    find "$pages" -name '*.gz' -exec sh -c 'rm -f "${1%.gz}"' sh {} \;

    local crates=()
    for crate in codecs gmc afec ace yjs session shared quic store cluster engine client simulation agent server tunnel trace cli; do
        crates+=(--package "groupwire-$crate")
    done
    # Uncommitted files are permitted: the pages are never committed.
    cargo "${command[@]}" --allow-dirty "${crates[@]}"
    rm -rf "$pages"
    if [[ -n $install ]]; then install_packed; fi
}

# Cargo installs from a folder with its own lock file; the packed crates that it depends on are patched in, because they are in
# no registry yet.
install_packed() {
    unpacked=$(mktemp -d) # Not local: the trap removes it after the function has returned.
    trap 'rm -rf "$unpacked" "$pages"' EXIT
    local patches=()
    for file in "$packages"/*.crate; do
        tar -xf "$file" -C "$unpacked"
        local name
        name=$(basename "$file" .crate)
        patches+=(--config "patch.crates-io.${name%-*}.path='$unpacked/$name'")
    done
    (cd "$unpacked" && cargo install --path groupwire-cli-* --root "$install" --target-dir "$packages/../installed" \
        "${patches[@]}")
    node scripts/check-pages.mjs "$install/bin/groupwire"
}

main
