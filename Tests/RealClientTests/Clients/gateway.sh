# usage: unshare --net bash gateway.sh SALLYPORT CURL FOLDER WAY
# A client behind a gateway, each in a network namespace that ends with the processes in it. The
# gateway leads the client's connections to a proxy by nftables: WAY is redirect or tproxy. What
# curl was told goes to standard output, a line for each of its connections.
sallyport=$1 curl=$2 folder=$3 way=$4
set -euo pipefail
name4=198.51.100.7 name6=2001:db8:7::7
children=()
# KILL, because who started this may ignore TERM, and children do as they are born.
trap 'kill -KILL "${children[@]}" 2>/dev/null || true' EXIT
trap 'exit 1' TERM

# The client's namespace lives as long as this process in it.
exec {client}< <(exec unshare --net sh -c 'echo $$; exec sleep 60')
children+=($!)
read -r inside <&"$client"
in_client() { nsenter --target "$inside" --net -- "$@"; }

ip link set lo up
ip link add gate type veth peer name inner
ip link set inner netns "$inside"
ip address add 192.0.2.1/24 dev gate
ip -6 address add 2001:db8::1/64 dev gate nodad
ip link set gate up
ip address add $name4/32 dev lo
ip -6 address add $name6/128 dev lo nodad
in_client ip link set lo up
in_client ip address add 192.0.2.2/24 dev inner
in_client ip -6 address add 2001:db8::2/64 dev inner nodad
in_client ip link set inner up
in_client ip route add default via 192.0.2.1
in_client ip -6 route add default via 2001:db8::1

if [ "$way" = redirect ]; then
    modes=(--mode transparent@0.0.0.0:8443 --mode 'transparent@[::]:8443')
    nft -f - <<RULES
table inet way {
    chain in {
        type nat hook prerouting priority -100; policy accept;
        iifname "gate" tcp dport { 80, 443 } redirect to :8443
    }
}
RULES
else
    modes=(--mode tproxy@127.0.0.1:8443 --mode 'tproxy@[::1]:8443')
    ip rule add fwmark 1 lookup 100
    ip route add local 0.0.0.0/0 dev lo table 100
    ip -6 rule add fwmark 1 lookup 100
    ip -6 route add local ::/0 dev lo table 100
    nft -f - <<RULES
table inet way {
    chain in {
        type filter hook prerouting priority -150; policy accept;
        iifname "gate" meta nfproto ipv4 tcp dport { 80, 443 } tproxy ip to 127.0.0.1:8443 meta mark set 1 accept
        iifname "gate" meta nfproto ipv6 tcp dport { 80, 443 } tproxy ip6 to [::1]:8443 meta mark set 1 accept
    }
}
RULES
fi

# The origin, at an address of each version, and the proxy; both say when they are ready.
exec {origin6}< <(exec "$sallyport" content --json --listen "[$name6]:80" \
    --tls-listen "[$name6]:443")
children+=($!)
read -r -t 20 _ <&"$origin6"
exec {origin4}< <(exec "$sallyport" content --json --listen $name4:80 --tls-listen $name4:443)
children+=($!)
read -r -t 20 line <&"$origin4"
content=$(sed -E 's/.*"ca":"([^"]*)".*/\1/' <<<"$line")
exec {proxy}< <(exec "$sallyport" proxy --json --capture "$folder/way.sallyport" \
    --origin-ca "$content" "${modes[@]}")
children+=($!)
pid=$!
read -r -t 20 line <&"$proxy"
authority=$(sed -E 's/.*"ca":"([^"]*)".*/\1/' <<<"$line")

fetch() {
    in_client "$curl" --silent --show-error --fail --max-time 20 --cacert "$authority" \
        --output /dev/null --write-out '%{http_code} %{remote_ip} %{remote_port}\n' "$@"
}
for address in $name4 "[$name6]"; do
    fetch "http://$address/assets/1/1000"
    fetch --resolve "origin.test:443:$address" https://origin.test/assets/1/1000
done
# Who comes to the proxy's own port was on its way to nothing else.
if [ "$way" = redirect ]; then
    in_client "$curl" --silent --max-time 20 http://192.0.2.1:8443/ >/dev/null && exit 9
    in_client "$curl" --silent --max-time 20 'http://[2001:db8::1]:8443/' >/dev/null && exit 9
fi
kill -TERM "$pid"
while read -r -t 20 line <&"$proxy"; do :; done
