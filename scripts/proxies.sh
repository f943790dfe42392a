#!/usr/bin/env bash
# Prints the folder of Caddy and Traefik for scripts/test-proxies.mjs, which Go builds from their sources: Debian's Caddy is of 2022, and
# Debian has no Traefik. Go compares their checksums with those of sum.golang.org. Without Go it prints nothing.
set -euo pipefail
cd "$(dirname "$0")/.."

# Pinned, so that a new version cannot change what docs/deploy/proxies.md says of an old commit.
caddy=v2.11.9
traefik=v3.6.12
folder=$PWD/.cache/tools/proxies/caddy-$caddy-traefik-$traefik

if ! command -v go >/dev/null; then exit; fi
export CGO_ENABLED=0 GOFLAGS=-buildvcs=false
if [[ ! -x $folder/caddy ]]; then
    echo "proxies: building Caddy $caddy (once, some 5 minutes)" >&2
    GOBIN=$folder go install "github.com/caddyserver/caddy/v2/cmd/caddy@$caddy" >&2
fi
if [[ ! -x $folder/traefik ]]; then
    echo "proxies: building Traefik $traefik (once, some 10 minutes)" >&2
    # `go install` refuses a program whose module replaces others, so it is built in the module's own folder, which has everything but the
    # dashboard.
    sources=$(go mod download -json "github.com/traefik/traefik/v3@$traefik" | sed -n 's/^\t"Dir": "\(.*\)",$/\1/p')
    (cd "$sources" && go build -ldflags "-s -w -X github.com/traefik/traefik/v3/pkg/version.Version=$traefik" -o "$folder/traefik" ./cmd/traefik) >&2
fi
echo "$folder"
