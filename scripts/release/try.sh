#!/usr/bin/env bash
# Installs, starts, upgrades and removes the packages of a release, starts its images, and lets programs in Python and C talk to its
# server: try.sh FOLDER [DEBIAN]. All of it happens in bare folders, as root, and what is for aarch64 runs in qemu: DEBIAN is an archive
# of Debian's root, which mmdebstrap makes if it is missing. systemd does not run there, so
# systemd-analyze checks the unit, and its commands are run as its user.
set -euo pipefail
# shellcheck source=scripts/release/common.sh
. "$(dirname "$0")/common.sh"

folder=$(realpath -m "$1")
debian=$(realpath -m "${2:-.cache/debian.tar}")
machine=$(uname -m)
work=$(mktemp -d)
server=

main() {
    if [[ $(id -u) != 0 ]]; then fail "run this as root: it enters other root folders"; fi
    scripts/apt-install.sh mmdebstrap rpm qemu-user-static lintian pkg-config libc6-arm64-cross libgcc-s1-arm64-cross
    trap clean EXIT
    try_programs
    try_libraries
    try_deb
    try_rpm
    for architecture in x86_64 aarch64; do try_image "$architecture"; done
}

clean() {
    stop
    rm -rf "$work"
}

stop() {
    if [[ -n $server ]]; then
        kill "$server" 2>/dev/null || true
        wait "$server" 2>/dev/null || true
    fi
    server=
}

# start COMMAND...: starts a server, and waits until the command in `healthy` succeeds.
start() {
    "$@" > "$work/log" 2>&1 &
    server=$!
    for _ in {1..300}; do
        if "${healthy[@]}" >/dev/null 2>&1; then return; fi
        sleep 0.2
    done
    cat "$work/log" >&2
    fail "the server did not answer: $*"
}

try_programs() {
    for architecture in x86_64 aarch64; do
        tar --extract --directory "$work" --file "$folder/groupwire-$version-$architecture-linux.tar.gz"
        echo "try: $architecture: $(emulated "$architecture" "$work/groupwire-$version-$architecture-linux/groupwire" --version)"
    done
}

# Programs that know only the files of the release talk to its server.
try_libraries() {
    local program=$work/groupwire-$version-$machine-linux/groupwire
    export GROUPWIRE_ADMIN=unix:$work/admin
    healthy=("$program" health)
    start "$program" serve --listen 127.0.0.1:0 --admin-listen "$GROUPWIRE_ADMIN"
    local address
    address=ws://$(sed -n 's|.*http://\([^/ ]*\).*|\1|p' "$work/log" | head -n 1)

    local chat='import asyncio, sys, groupwire

async def main():
    async with groupwire.connect(sys.argv[1], "try", timeout=60) as room:
        await room.channel("chat").send_confirmed("hello")

asyncio.run(main())'
    python3 -m venv "$work/python"
    "$work/python/bin/pip" install --quiet --disable-pip-version-check --no-index "$folder"/python/*"$machine.whl"
    (cd "$work" && python/bin/python -c "$chat" "$address")
    echo "try: python: installed the wheel, and sent a message"
    if [[ $machine != aarch64 ]]; then
        get_python_for_arm
        python3 -m zipfile --extract "$folder"/python/*aarch64.whl "$work/arm/groupwire"
        PYTHONPATH=$work/arm/groupwire qemu-aarch64-static -L "$work/arm" "$work/arm/usr/bin/python3" -c "$chat" "$address"
        echo "try: python: aarch64: sent a message"
    fi

    for architecture in x86_64 aarch64; do
        local name=groupwire-c-$version-$architecture-linux flags compiler
        tar --extract --directory "$work" --file "$folder/$name.tar.gz"
        read -ra flags <<< "$(PKG_CONFIG_PATH=$work/$name/lib/pkgconfig pkg-config --cflags --libs groupwire)"
        compiler=("$(scripts/release/zigbuild.sh)/ziglang/zig" cc -target "$architecture-linux-gnu.2.17")
        "${compiler[@]}" -std=c11 examples/c/avatars.c -o "$work/avatars-$architecture" "${flags[@]}" -lm
        LD_LIBRARY_PATH=$work/$name/lib emulated "$architecture" "$work/avatars-$architecture" "$address" 60 2
        echo "try: c: $architecture: linked the library, and avatars walked"
    done
    stop
    unset GROUPWIRE_ADMIN
}

# emulated ARCHITECTURE PROGRAM...: runs a program of this machine or of another one.
emulated() {
    if [[ $1 == "$machine" ]]; then "${@:2}"; else "qemu-$1-static" -L "/usr/$1-linux-gnu" "${@:2}"; fi
}

# Unpacks Debian's Python for aarch64 into $work/arm.
get_python_for_arm() {
    local apt=$work/apt options
    mkdir -p "$apt/state/lists/partial" "$apt/cache/archives/partial" "$work/arm"
    : > "$apt/status"
    options=(-o APT::Architecture=arm64 -o APT::Architectures=arm64 -o Dir::State="$apt/state" -o Dir::State::status="$apt/status"
        -o Dir::Cache="$apt/cache" --quiet --quiet)
    apt-get "${options[@]}" update
    apt-get "${options[@]}" install --yes --download-only --no-install-recommends python3-minimal libpython3-stdlib > /dev/null
    for package in "$apt"/cache/archives/*.deb; do dpkg --extract "$package" "$work/arm"; done
}

try_deb() {
    local deb=$folder/groupwire-$version-$machine-linux.deb root=$work/debian
    lintian --fail-on error,warning "$folder"/*.deb
    if [[ ! -f $debian ]]; then
        mmdebstrap --variant=minbase --include=systemd-standalone-sysusers,ca-certificates stable "$debian"
    fi
    mkdir "$root"
    tar --extract --directory "$root" --file "$debian"
    cp "$deb" "$root/first.deb"
    chroot "$root" dpkg --install /first.deb
    check_installed "$root"
    start_service "$root"
    echo "try: deb: $(in_root "$root" groupwire health)"

    upgrade_deb "$root"
    check_config_kept "$root"

    chroot "$root" dpkg --remove groupwire
    if [[ -e $root/usr/bin/groupwire ]]; then fail "the program is there after its removal"; fi
    check_config_kept "$root"
    chroot "$root" dpkg --purge groupwire
    if [[ -e $root/etc/groupwire/groupwire.toml ]]; then fail "the configuration is there after a purge"; fi
    if [[ -z $(ls -A "$root/var/lib/groupwire") ]]; then fail "the rooms are gone after a purge"; fi
    stop
    echo "try: deb: installed, started, upgraded, removed and purged"
}

# Installs a later version while the server runs, and upgrades it in place, as the unit's reload does.
upgrade_deb() {
    local old=$server
    echo "# changed by the administrator" >> "$1/etc/groupwire/groupwire.toml"
    later_deb "$1"
    chroot "$1" dpkg --install /second.deb
    in_root "$1" groupwire config check /etc/groupwire/groupwire.toml >/dev/null
    service_command "$1" --upgrade > "$work/log-upgrade" 2>&1 &
    server=$!
    wait "$old" || fail "the old server did not end well: $(cat "$work/log")"
    in_root "$1" groupwire health >/dev/null || fail "the new server does not answer: $(cat "$work/log-upgrade")"
    echo "try: deb: upgraded to $(chroot "$1" dpkg-query --show --showformat '${Version}' groupwire), the new server has taken over"
}

# The same package under a higher version.
later_deb() {
    local unpacked=$work/later
    dpkg-deb --raw-extract "$1/first.deb" "$unpacked"
    sed -i "s/^Version: .*/&+later/" "$unpacked/DEBIAN/control"
    dpkg-deb -Zgzip -z1 --root-owner-group --build "$unpacked" "$1/second.deb" >/dev/null
}

check_installed() {
    chroot "$1" getent passwd groupwire
    local modes
    modes=$(chroot "$1" stat --format '%U:%G %a' /etc/groupwire /etc/groupwire/groupwire.toml | paste -sd ,)
    if [[ $modes != "root:groupwire 750,root:groupwire 640" ]]; then fail "the configuration belongs to $modes"; fi
    # Only what the package has: the units of this machine are none of the folder's.
    systemd-analyze verify --recursive-errors=no --man=no --root="$1" /usr/lib/systemd/system/groupwire.service
}

check_config_kept() {
    grep --quiet "changed by the administrator" "$1/etc/groupwire/groupwire.toml" || fail "the changed configuration is lost"
}

# What systemd does before it starts the service.
start_service() {
    chroot "$1" install -d -o groupwire -g groupwire -m 0700 /var/lib/groupwire
    chroot "$1" install -d -o groupwire -g groupwire -m 0750 /run/groupwire
    healthy=(in_root "$1" groupwire health)
    start service_command "$1"
}

# service_command ROOT OPTIONS...: runs the unit's ExecStart, and further options, as the service's user.
service_command() {
    local command
    command=$(sed -n 's/^ExecStart=//p' "$1/usr/lib/systemd/system/groupwire.service")
    # exec, so that the process id is that of the server.
    exec chroot --userspec=groupwire:groupwire "$1" sh -c "cd /var/lib/groupwire && exec $command ${*:2}"
}

in_root() {
    chroot "$1" env GROUPWIRE_ADMIN=unix:/run/groupwire/admin "${@:2}"
}

try_rpm() {
    local rpm=$folder/groupwire-$version-$machine-linux.rpm root=$work/fedora
    mkdir "$root"
    tar --extract --directory "$root" --file "$debian"
    rpm --root "$root" --initdb
    # Debian's folder has systemd's programs, but no rpm package that provides them.
    rpm --root "$root" --install --nodeps "$rpm"
    check_installed "$root"
    start_service "$root"
    echo "try: rpm: $(in_root "$root" groupwire health)"
    stop
    echo "# changed by the administrator" >> "$root/etc/groupwire/groupwire.toml"
    rpm --root "$root" --upgrade --nodeps --force "$rpm"
    check_config_kept "$root"
    rpm --root "$root" --erase --nodeps groupwire
    if [[ -e $root/usr/bin/groupwire ]]; then fail "the program is there after its removal"; fi
    if [[ -z $(ls -A "$root/var/lib/groupwire") ]]; then fail "the rooms are gone after the removal"; fi
    echo "try: rpm: installed, started, upgraded and removed"
}

# Starts the image's file system as its configuration says, and asks it by its own health check.
try_image() {
    local name=amd64 root=$work/image-$1 layout=$work/layout-$1
    if [[ $1 == aarch64 ]]; then name=arm64; fi
    mkdir "$root" "$layout"
    tar --extract --directory "$layout" --file "$folder/groupwire-$version-image-$name.tar"
    node scripts/release/unpack-image.mjs "$layout" "$root" > "$work/config-$1.json"
    local user entry
    user=$(field "$1" 'User')
    entry=$(field "$1" 'Entrypoint[0]')
    mapfile -t variables < <(field "$1" 'Env.join("\n")')
    local in_image=(--userspec="$user" "$root")
    if [[ $1 != "$machine" ]]; then
        cp "$(command -v "qemu-$1-static")" "$root/qemu"
        in_image+=(/qemu)
    fi
    # With the image's variables alone, so that the programs are named by their paths.
    local bare=(env --ignore-environment "${variables[@]}")
    healthy=("${bare[@]}" "$(command -v chroot)" "${in_image[@]}" "$entry" health)
    # The network is the image's own, so its port is free.
    start "${bare[@]}" "$(command -v unshare)" --net "$(command -v chroot)" "${in_image[@]}" "$entry" serve
    echo "try: image for $1: $("${healthy[@]}")"
    stop
}

# field ARCHITECTURE EXPRESSION: prints a field of the image's configuration.
field() {
    node --print "JSON.parse(require('fs').readFileSync('$work/config-$1.json')).$2"
}

main
