#!/usr/bin/env bash
# Installs Debian's Firefox and WebKitGTK for `make test-engines`, and a display and a loudspeaker that need no device, where they are
# missing. Where they cannot be installed, it says so and succeeds: the tests are skipped then, and counted (scripts/skipped.mjs).
set -euo pipefail
cd "$(dirname "$0")/.."

has() { command -v "$1" >/dev/null; }

packages=()
has firefox-esr || has firefox || packages+=(firefox-esr)
has WebKitWebDriver || packages+=(webkit2gtk-driver)
has Xvfb || packages+=(xvfb)
has pulseaudio || packages+=(pulseaudio)
if [[ ${#packages[@]} == 0 ]]; then exit; fi

echo "engines: installing Debian's ${packages[*]} (some 2 minutes)" >&2
scripts/apt-install.sh "${packages[@]}" ||
    echo "engines: cannot install ${packages[*]}, so their tests are skipped; install them, and run this again" >&2
