#!/bin/sh
# usage: chromium.sh CA URL OPTION…
#
# Chromium with a profile of its own, in which the CA is trusted.
ca=$1 url=$2
shift 2
HOME=$(mktemp -d)
export HOME
mkdir -p "$HOME/.pki/nssdb"
certutil -N -d "sql:$HOME/.pki/nssdb" --empty-password
certutil -A -d "sql:$HOME/.pki/nssdb" -n ca -t C,, -i "$ca"
chromium --headless=new --disable-gpu --disable-dev-shm-usage --no-first-run --no-sandbox \
    --disable-background-networking --disable-component-update --user-data-dir="$HOME/profile" \
    "$@" --dump-dom "$url"
status=$?
rm -r "$HOME"
exit $status
