# usage: login.sh SITE PROXY CA: logs in and places an order, as a page's scripts would.
set -e
ask() {
    curl --silent --show-error --max-time 10 --proxy "$proxy" --cacert "$authority" \
        --cookie cookies --cookie-jar cookies "$@"
}
site=$1 proxy=$2 authority=$3
token=$(ask "$site/login" | sed -n 's/.*name="csrf-token" content="\([^"]*\)".*/\1/p' \
    | sed 's/&amp;/\&/g')
ask --suppress-connect-headers --dump-header head --data-urlencode "_csrf=$token" \
    --data-urlencode user=alice99 --data-urlencode password=hunter22 "$site/login"
place=$(sed -n 's/^Location: \(.*\)\r$/\1/p' head)
csrf=$(sed -n 's/^X-CSRF-Token: \(.*\)\r$/\1/p' head)
ask "$site$place"
key=$(ask "$site/api/token?access_token=hunter33" | sed 's/.*"access_token": "\([^"]*\)".*/\1/')
number=$(ask --header "X-CSRF-Token: $csrf" --json "{\"token\": \"$key\", \"item\": 3}" \
    "$site/api/orders" | tr -dc 0-9)
ask --header "Authorization: Bearer $key" "$site/api/orders/$number"
