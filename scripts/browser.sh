#!/usr/bin/env bash
# Prints the path of a Chromium or Chrome for the browser tests, installing Debian's if there is none.
# GROUPWIRE_BROWSER, if set, comes first; then Chromium's headless shell, which has the same engine without the browser's own
# windows: the browser tests take a third less processor time with it.
set -euo pipefail
cd "$(dirname "$0")/.."

find_browser() {
    local name
    for name in ${GROUPWIRE_BROWSER:+"$GROUPWIRE_BROWSER"} chromium-headless-shell chromium chromium-browser google-chrome google-chrome-stable; do
        command -v "$name" && return
    done
    return 1
}

find_browser && exit
echo "browser: no Chromium or Chrome found; installing Debian's" >&2
{ scripts/apt-install.sh chromium-headless-shell || scripts/apt-install.sh chromium; } && find_browser && exit
echo "browser: install Chromium or Chrome, or set GROUPWIRE_BROWSER to one, and run this again" >&2
exit 1
