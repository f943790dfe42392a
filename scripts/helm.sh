#!/usr/bin/env bash
# Prints the path of helm, for the test of the chart in packaging/helm: the one on the PATH, otherwise one in .cache/tools/helm, which Go
# builds from its sources. Go compares their checksums with those of sum.golang.org. Without either, it prints nothing.
set -euo pipefail
cd "$(dirname "$0")/.."

version=v3.17.3
folder=$PWD/.cache/tools/helm/$version
variables=(
    helm.sh/helm/v3/internal/version.version="$version"
    # The Kubernetes that `helm template` takes for granted, which release builds of helm set, too.
    helm.sh/helm/v3/pkg/chartutil.k8sVersionMajor=1
    helm.sh/helm/v3/pkg/chartutil.k8sVersionMinor=32
)

if command -v helm; then exit; fi
if [[ ! -x $folder/helm ]]; then
    if ! command -v go >/dev/null; then exit; fi
    echo "helm: building helm $version (once, some 3 minutes)" >&2
    GOBIN=$folder GOFLAGS=-buildvcs=false go install -ldflags "-s -w ${variables[*]/#/-X }" "helm.sh/helm/v3/cmd/helm@$version" >&2
fi
echo "$folder/helm"
