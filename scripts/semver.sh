#!/usr/bin/env bash
# Checks that the public interfaces of the published crates changed since the commit in scripts/semver-baseline only as their
# versions say (https://doc.rust-lang.org/cargo/reference/semver.html). A change that breaks users needs a new version in
# Cargo.toml; after a release, the file names the release's commit.
set -euo pipefail
cd "$(dirname "$0")/.."

version=0.51.0
tools=$PWD/.cache/tools/semver
baseline=$(<scripts/semver-baseline)

if ! "$tools/bin/cargo-semver-checks" --version 2>/dev/null | grep --quiet --fixed-strings " $version"; then
    echo "semver: compiling cargo-semver-checks (once, some 8 minutes)"
    # The lightest settings: the tool runs for seconds.
    CARGO_PROFILE_RELEASE_LTO=off CARGO_PROFILE_RELEASE_OPT_LEVEL=1 CARGO_PROFILE_RELEASE_CODEGEN_UNITS=16 \
        cargo install --quiet --locked --root "$tools" --target-dir "$tools/target" --version "$version" cargo-semver-checks
    rm -rf "$tools/target"
fi

git cat-file -e "$baseline^{commit}" 2>/dev/null || {
    echo "semver: commit $baseline is not in this clone: fetch the whole history (git fetch --unshallow)" >&2
    exit 1
}
packages=()
for crate in codecs gmc afec ace session quic client server tunnel trace; do packages+=(--package "groupwire-$crate"); done
"$tools/bin/cargo-semver-checks" semver-checks --baseline-rev "$baseline" "${packages[@]}"
