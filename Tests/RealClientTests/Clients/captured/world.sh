# usage: unshare --mount --net --pid --fork sh world.sh
#
# A network of its own with the origins of the test of `run --capture-all`, by the files that the
# test put into the current folder, with PYTHON as Python. Names are answered by origins.py, whoever
# asks from this mount namespace. All of it ends when the standard input does.

set -e
here=$PWD
clients=$(dirname "$0")
ip link set lo up
mount --bind "$here/resolv.conf" /etc/resolv.conf

nginx -c "$here/nginx.conf" -e "$here/nginx.log" &
"$PYTHON" "$clients/origins.py" origin.pem origin.key &
if command -v redis-server >/dev/null; then
    redis-server --bind 127.0.0.1 --port 6379 --tls-port 6380 --tls-cert-file origin.pem \
        --tls-key-file origin.key --tls-auth-clients no --save '' >/dev/null &
fi
if command -v mosquitto >/dev/null; then mosquitto -c mosquitto.conf 2>mosquitto.log & fi

# PostgreSQL refuses to run as root, and wants a key of its own.
initdb=$(command -v initdb || find /usr/lib/postgresql -name initdb 2>/dev/null | tail -n 1)
if [ -n "$initdb" ]; then
    mkdir database
    cp origin.key database.key
    chmod 600 database.key
    chown -R 65534:65534 database database.key
    nobody="setpriv --reuid=65534 --regid=65534 --clear-groups"
    $nobody "$initdb" -A trust -U tester --no-sync --no-locale -D database >initdb.log
    $nobody "$(dirname "$initdb")/postgres" -D database -k '' -c listen_addresses=127.0.0.1 \
        -c ssl=on -c ssl_cert_file="$here/origin.pem" -c ssl_key_file="$here/database.key" \
        -c fsync=off 2>database.log &
fi
cat >/dev/null
