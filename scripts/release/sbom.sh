#!/usr/bin/env bash
# Writes the software bills of materials in CycloneDX, of the program, of the libraries and of the npm packages: sbom.sh FOLDER.
set -euo pipefail
# shellcheck source=scripts/release/common.sh
. "$(dirname "$0")/common.sh"

folder=$(realpath -m "$1")
cyclonedx=0.5.9
tools=$PWD/.cache/tools/cyclonedx/$cyclonedx

if [[ ! -x $tools/bin/cargo-cyclonedx ]]; then
    echo "sbom: building cargo-cyclonedx $cyclonedx (once, some 3 minutes)"
    # Unoptimised: it runs for a second.
    cargo install --quiet --locked --debug --root "$tools" --target-dir "$tools/target" "cargo-cyclonedx@$cyclonedx"
    rm -rf "$tools/target"
fi

# It writes a file into the folder of every crate of the workspace.
remove() { find crates lab python uniffi conformance -name groupwire-release.json -delete; }
remove
"$tools/bin/cargo-cyclonedx" cyclonedx --quiet --format json --target x86_64-unknown-linux-musl --override-filename groupwire-release
node scripts/release/sbom.mjs crates/cli/groupwire-release.json > "$folder/groupwire-$version-program.cdx.json"
node scripts/release/sbom.mjs crates/c/groupwire-release.json > "$folder/groupwire-$version-c.cdx.json"
node scripts/release/sbom.mjs python/groupwire-release.json > "$folder/groupwire-$version-python.cdx.json"
remove

# npm's answer is about all public packages together.
public=()
for file in web/*/package.json; do
    if ! grep --quiet '^  "private": true' "$file"; then public+=(--workspace "$(basename "$(dirname "$file")")"); fi
done
(cd web && npm sbom --sbom-format cyclonedx --package-lock-only --omit dev "${public[@]}") > "$folder/.unpacked/npm.json"
node scripts/release/sbom.mjs "$folder/.unpacked/npm.json" > "$folder/groupwire-$version-npm.cdx.json"
