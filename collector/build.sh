#!/bin/sh
# Builds otelcol-docsfab from builder.yaml into a cache outside the checkout and prints the binary's path.
#
#   collector/build.sh           builds when needed (minutes cold, well under a second warm)
#   collector/build.sh --path    prints where the binary is; builds nothing, fails when it is not there
#
# The cache key is a hash of the manifest and of this script, which names the builder: a change of either is a new binary.
# OTEL_DOCSFAB_BUILD_JOBS limits the compiler's parallelism (default 2).
set -eu

builder=go.opentelemetry.io/collector/cmd/builder@v0.161.0
here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
key=$(cat "$here/builder.yaml" "$here/build.sh" | { sha256sum 2>/dev/null || shasum -a 256; } | cut -c1-16)
cache=${XDG_CACHE_HOME:-$HOME/.cache}/otel-docsfab/collector
binary=$cache/$key/otelcol-docsfab

if [ -x "$binary" ]; then
    echo "$binary"
    exit 0
fi
if [ "${1:-}" = --path ]; then
    echo "otelcol-docsfab is not built yet: run collector/build.sh" >&2
    exit 1
fi
if ! command -v go >/dev/null 2>&1; then
    echo "building otelcol-docsfab needs Go; without it, run the YAML files with the public contrib image (README.md)" >&2
    exit 1
fi

mkdir -p "$cache"
work=$(mktemp -d "$cache/build.XXXXXX")
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM
echo "building otelcol-docsfab in $work (several minutes when nothing is cached)" >&2
cp "$here/builder.yaml" "$work/"
(
    cd "$work"
    CGO_ENABLED=0 GOFLAGS="${GOFLAGS:-} -p=${OTEL_DOCSFAB_BUILD_JOBS:-2} -buildvcs=false" GOWORK=off \
        nice go run "$builder" --config builder.yaml
) >&2

# The rename is the last step, so that a reader of the cache never sees half a binary and two builds may race.
mkdir -p "$cache/$key"
mv "$work/_build/otelcol-docsfab" "$binary"
echo "$binary"
