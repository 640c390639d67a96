#!/bin/sh
# usage: nss.sh default|unverified HOST PORT CA
#
# A client of NSS, which trusts the CA in a database of its own.
folder=$(mktemp -d)
certutil -N -d "sql:$folder" --empty-password
certutil -A -d "sql:$folder" -n ca -t C,, -i "$4"
printf 'GET / HTTP/1.0\r\n\r\n' >"$folder/request"
options=
if [ "$1" = unverified ]; then options=-o; fi
tstclnt -4 $options -d "sql:$folder" -h "$2" -p "$3" -V tls1.2:tls1.3 <"$folder/request"
status=$?
rm -r "$folder"
exit $status
