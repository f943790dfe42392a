#!/usr/bin/env bash
# Prints the path of a tool in Go, which is built once into .cache/tools. Go compares the sources with sum.golang.org:
# go-tool.sh nfpm|crane|actionlint.
set -euo pipefail
cd "$(dirname "$0")/../.."

case $1 in
    # Packs .deb and .rpm. 2.46 and later need Go modules that proxies of companies refuse.
    nfpm) module=github.com/goreleaser/nfpm/v2/cmd/nfpm version=v2.45.0 ;;
    # Pushes images to a registry.
    crane) module=github.com/google/go-containerregistry/cmd/crane version=v0.22.1 ;;
    # Checks .github/workflows.
    actionlint) module=github.com/rhysd/actionlint/cmd/actionlint version=v1.7.12 ;;
    *)
        echo "go-tool: no tool $1" >&2
        exit 1
        ;;
esac

folder=$PWD/.cache/tools/$1/$version
if [[ ! -x $folder/$1 ]]; then
    if ! command -v go >/dev/null; then
        echo "go-tool: building $1 needs Go (https://go.dev/dl)" >&2
        exit 1
    fi
    echo "go-tool: building $1 $version (once, about a minute)" >&2
    GOBIN=$folder GOFLAGS=-buildvcs=false go install -ldflags "-s -w" "$module@$version" >&2
fi
echo "$folder/$1"
