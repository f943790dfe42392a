#!/usr/bin/env bash
# Prints the path of a program that reads a file for Docker Compose and prints what it means: the parser that Docker Compose itself uses,
# which Go builds from its sources. Without Go it prints nothing.
set -euo pipefail
cd "$(dirname "$0")/.."

version=v2.16.2
folder=$PWD/.cache/tools/compose-go/$version

if [[ ! -x $folder/cmd ]]; then
    if ! command -v go >/dev/null; then exit; fi
    echo "compose: building compose-go $version (once, half a minute)" >&2
    CGO_ENABLED=0 GOBIN=$folder GOFLAGS=-buildvcs=false go install "github.com/compose-spec/compose-go/v2/cmd@$version" >&2
fi
echo "$folder/cmd"
