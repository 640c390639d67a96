#!/bin/sh
# usage: stunnel.sh default|chain|verified HOST PORT CA
#
# stunnel as a client: it verifies what its configuration says, which is nothing by default.
folder=$(mktemp -d)
{
    printf 'foreground = yes\nsyslog = no\nclient = yes\nconnect = %s:%s\nsni = %s\n' "$2" "$3" "$2"
    if [ "$1" != default ]; then printf 'verifyChain = yes\nCAfile = %s\n' "$4"; fi
    if [ "$1" = verified ]; then printf 'checkHost = %s\n' "$2"; fi
} >"$folder/conf"
(
    printf 'GET / HTTP/1.0\r\n\r\n'
    sleep 1
) | stunnel4 "$folder/conf"
status=$?
rm -r "$folder"
exit $status
