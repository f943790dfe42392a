#!/usr/bin/env bash
# Installs the servers that `groupwire-lab fanout` and `groupwire-lab yjs` compare with Groupwire into .cache/peers. Nothing of Groupwire is built
# from them. The script names the servers that it cannot install, and goes on without them.
set -euo pipefail
cd "$(dirname "$0")/.."

peers=$PWD/.cache/peers
mkdir -p "$peers"
cp -R lab/experiments/peers/. "$peers"

missing=0
miss() {
    echo "peers: $1" >&2
    missing=1
}

# Install scripts of packages are off, except the one of bun, which installs its binary.
if command -v npm >/dev/null; then
    (cd "$peers" && npm ci --ignore-scripts --no-audit --no-fund && node node_modules/bun/install.js) >&2 ||
        miss "ws, Socket.IO, Colyseus, y-websocket, Hocuspocus, Bun: npm failed, see above"
else
    miss "ws, Socket.IO, Colyseus, y-websocket, Hocuspocus, Bun: install Node and npm, and run this again"
fi

if command -v go >/dev/null; then
    (cd "$peers/centrifuge" && go build -o ../bin/centrifuge .) >&2 || miss "centrifuge: go build failed, see above"
else
    miss "centrifuge: install Go and run this again"
fi
exit $missing
