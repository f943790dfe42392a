#!/usr/bin/env bash
# All checks and tests, one make target after the other, up to the first that fails.
set -euo pipefail
cd "$(dirname "$0")/.."

# Some tools colour their output in CI even if it goes to no terminal.
if [[ ! -t 1 ]]; then export NO_COLOR=1; fi

# Fast checks come first. The web pages are built before the Rust steps, because the server embeds them.
steps=(
    "conflict markers:conflicts"
    "format:fmt-check"
    "licences:licences"
    "core and arrows:core-check"
    "rules of the wire format:wire-check"
    "circles of files:cycles-check"
    "the checks themselves:test-scripts"
    "WebAssembly:wasm"
    "web client and pages:web"
    "size in browsers:size"
    "clippy:clippy"
    "fuzz targets:fuzz-check"
    "Rust documentation:doc"
    "Rust tests:test-rust"
    "TypeScript checks and tests:test-web"
    "browser tests:test-browser"
    "Python client:test-python"
    "README commands:test-readme"
)

summary=()
for step in "${steps[@]}"; do
    name=${step%:*} target=${step##*:}
    printf '\n== %s (make %s), %d s since the start\n' "$name" "$target" "$SECONDS"
    start=$SECONDS
    if ! "${MAKE:-make}" --no-print-directory "$target"; then
        printf '\n== FAILED: %s, after %d s. To repeat it alone: make %s\n' "$name" "$((SECONDS - start))" "$target"
        exit 1
    fi
    summary+=("$(printf '%5d s  %s' "$((SECONDS - start))" "$name")")
done

printf '\n== all passed\n'
printf '%s\n' "${summary[@]}"
printf '%5d s  in all\n' "$SECONDS"
