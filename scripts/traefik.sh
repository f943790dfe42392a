#!/usr/bin/env bash
# Prints the path of Traefik for scripts/test-proxies.mjs: the one on the PATH, otherwise one in .cache/tools/traefik, which Go builds from its
# sources, because Debian has none. Go compares their checksums with those of sum.golang.org. Without either, it prints nothing.
set -euo pipefail
cd "$(dirname "$0")/.."

# Pinned, so that a new version cannot change what docs/deploy/proxies.md says of an old commit.
version=v3.6.12
folder=$PWD/.cache/tools/traefik/$version

if command -v traefik; then exit; fi
if [[ ! -x $folder/traefik ]]; then
    if ! command -v go >/dev/null; then exit; fi
    echo "traefik: building Traefik $version (once, 10 minutes and more)" >&2
    # `go install` refuses a program whose module replaces others, so it is built in the module's own folder, which has everything but the
    # dashboard.
    sources=$(go mod download -json "github.com/traefik/traefik/v3@$version" | sed -n 's/^\t"Dir": "\(.*\)",$/\1/p')
    flags="-s -w -X github.com/traefik/traefik/v3/pkg/version.Version=$version"
    (cd "$sources" && CGO_ENABLED=0 go build -buildvcs=false -ldflags "$flags" -o "$folder/traefik" ./cmd/traefik) >&2
fi
echo "$folder/traefik"
