# What the scripts share; sourced, never run. It moves to the top of the project.
# shellcheck shell=bash

top=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
cd "$top" || exit 4

say() { printf '%s\n' "==> $*" >&2; }

# Says what failed and, if there is a second argument, what to do; ends with code 4: could not run.
fail() {
    printf '%s\n' "error: $1" >&2
    if [ $# -gt 1 ]; then printf '%s\n' "hint: $2" >&2; fi
    exit 4
}

as_root() {
    if [ "$(id -u)" = 0 ]; then
        "$@"
    elif command -v sudo >/dev/null; then
        sudo "$@"
    else
        fail "installing needs root, and there is no sudo" "run as root: $*"
    fi
}

# Prints the comment at the head of a script, from its second line on.
usage() {
    sed -n '2,/^$/{/^#/!d;s/^# \{0,1\}//;p;}' "$1"
}

need_swift() {
    command -v swift >/dev/null || fail "there is no Swift toolchain" \
        "install Swift 6.2 or later from https://www.swift.org/install and put it on the PATH"
}

# Runs a command with its output in a log; on a terminal its last line is shown while it runs. The
# whole log is printed if the command fails.
quietly() {
    local log started status=0
    log=$(mktemp)
    started=$SECONDS
    if [ -t 2 ]; then
        "$@" 2>&1 | tee "$log" | while IFS= read -r line; do
            printf '\r\033[K    %.90s' "$line" >&2
        done || status=$?
        printf '\r\033[K' >&2
    else
        "$@" >"$log" 2>&1 || status=$?
    fi
    if [ "$status" != 0 ]; then
        cat "$log" >&2
        rm -f "$log"
        printf '%s\n' "error: failed with code $status: $*" >&2
        return "$status"
    fi
    rm -f "$log"
    say "done after $((SECONDS - started)) s"
}

# Builds the tool and sets `sallyport` to it.
build_release() {
    need_swift
    say "building (swift build -c release --static-swift-stdlib --product sallyport)"
    quietly swift build -c release --static-swift-stdlib --product sallyport
    # shellcheck disable=SC2034 # for the script that sources this
    sallyport=$(swift build -c release --show-bin-path)/sallyport
}
