#!/usr/bin/env bash
# `make release`: makes all files of a release in target/release-files. docs/releasing.md lists them, and how they are published.
set -euo pipefail
# shellcheck source=scripts/release/common.sh
. "$(dirname "$0")/common.sh"

folder=$target_dir/release-files

main() {
    if [[ -n $(git status --porcelain) && -z ${GROUPWIRE_UNCOMMITTED:-} ]]; then
        fail "there are uncommitted changes, so nobody could build the same release. Commit them, or set GROUPWIRE_UNCOMMITTED=1 for a trial"
    fi
    node scripts/release/versions.mjs
    rm -rf "$folder"
    mkdir -p "$folder"
    for step in programs libraries packages image npm crates installers sbom sums; do
        local start=$SECONDS
        "scripts/release/$step.sh" "$folder"
        echo "== $step took $((SECONDS - start)) s"
    done
    rm -rf "$folder/.unpacked"
    (cd "$folder" && find . -type f -printf '%10s  %P\n' | sort -k 2)
    echo "release: $folder has version $version. docs/releasing.md says how to publish it"
}

main
