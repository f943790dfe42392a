#!/usr/bin/env bash
# Prints the path of a Chromium or Chrome for the browser tests, installing Debian's if there is none.
# GROUPWIRE_BROWSER, if set, comes first.
set -euo pipefail
cd "$(dirname "$0")/.."

find_browser() {
    local name
    for name in ${GROUPWIRE_BROWSER:+"$GROUPWIRE_BROWSER"} chromium chromium-browser google-chrome google-chrome-stable; do
        command -v "$name" && return
    done
    return 1
}

find_browser && exit
echo "browser: no Chromium or Chrome found; installing Debian's chromium" >&2
scripts/apt-install.sh chromium && find_browser && exit
echo "browser: install Chromium or Chrome, or set GROUPWIRE_BROWSER to one, and run this again" >&2
exit 1
