#!/usr/bin/env bash
# Prints the folder in .cache/tools/kotlin with Kotlin's compiler (compiler/*.jar, which needs Java 17) and what a program with our Kotlin
# client needs at run time (library/*.jar). They come from Maven Central; their SHA-256 is compared. Licences: all Apache-2.0; JNA's is
# Apache-2.0 or LGPL, of which we take the first.
set -euo pipefail
cd "$(dirname "$0")/.."

central=https://repo1.maven.org/maven2
kotlin=2.4.21
compiler="
ef19419c765e7ac8404465fa026ca8fc4dbb8a822de0fc79aa53c8dce29f1d02 org/jetbrains/kotlin/kotlin-compiler-embeddable/$kotlin
c5cd6a49bd072b529ae10809111c16a7aa0f92147e95d288354017fd65799461 org/jetbrains/kotlin/kotlin-build-tools-api/$kotlin
7b3ef24674e5bcffcadfc4e43202ea314194939ecbcdd90a4770b2f1b04e0d07 org/jetbrains/kotlin/kotlin-daemon-embeddable/$kotlin
a658cf5902a1525a06c264a5e42b437e97a6679ddeef8ca641246f270cf6a013 org/jetbrains/kotlin/kotlin-script-runtime/$kotlin
3277ac102ae17aad10a55abec75ff5696c8d109790396434b496e75087854203 org/jetbrains/kotlin/kotlin-reflect/1.6.10
"
library="
bd8250210584cb659847dce9cda660f8e9906e5def7fbebcea93dc6dcb6a88a3 org/jetbrains/kotlin/kotlin-stdlib/$kotlin
d1d75aa01dffbb4d1c520e67e4c4e7f5f6174718e7cb4632412503f2f0e604fa org/jetbrains/kotlinx/kotlinx-coroutines-core-jvm/1.11.0
7b0f19724082cbfcbc66e5abea2b9bc92cf08a1ea11e191933ed43801eb3cd05 org/jetbrains/annotations/23.0.0
4fb141dd8ef6b0585ffceea4bc49602fbc6312fa977e2c488794ea3e6aafecae net/java/dev/jna/jna/5.19.1
"
# A change of any version or hash makes a new folder.
key=$(echo "$compiler$library" | sha256sum | cut -c1-16)
tools=$PWD/.cache/tools/kotlin/$kotlin-$key

# Fetches the packages of a list into a folder.
fetch() {
    mkdir -p "$2"
    while read -r hash path; do
        [[ -n $hash ]] || continue
        local version=${path##*/} name=${path%/*}
        name=${name##*/}
        curl --silent --show-error --fail --location --retry 3 --max-time 300 --output "$2/$name.jar" \
            "$central/$path/$name-$version.jar" >&2
        echo "$hash  $2/$name.jar" | sha256sum --check --quiet >&2
    done <<<"$1"
}

if [[ ! -d $tools ]]; then
    echo "kotlin: fetching the compiler and libraries, 65 MB (once, some 10 s)" >&2
    rm -rf "$tools.new"
    fetch "$compiler" "$tools.new/compiler"
    fetch "$library" "$tools.new/library"
    mv "$tools.new" "$tools"
fi
echo "$tools"
