#!/bin/sh
# usage: piped.sh COMMAND…
#
# Sends a request to a program that passes on what it reads, such as socat.
(
    printf 'GET / HTTP/1.0\r\n\r\n'
    sleep 1
) | "$@"
