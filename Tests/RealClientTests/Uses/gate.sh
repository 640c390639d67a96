#!/bin/sh
# A job of CI goes red for a planted password that passes in cleartext, and green after the mend.
set -eu

sallyport content --listen 127.0.0.1:0 --tls-listen 127.0.0.1:0 --json >content.json &
content=$!
trap 'kill $content' EXIT
until [ -s content.json ]; do sleep 0.1; done
field() { sed -nE "s/.*\"$1\":\"([^\"]*)\".*/\1/p" content.json; }
http=$(field http) https=$(field https) ca=$(field ca)

cat >subject.profile <<'PROFILE'
password.account = a-long-test-password
PROFILE
cat >sync.sh <<SYNC
curl -sS --fail-with-body -o out --user tester:a-long-test-password "http://$http/assets/1/100"
SYNC
cat >sallyport.conf <<'CONF'
[run]
profile = subject.profile
loopback-as-remote = yes
CONF

status=0
sallyport run --sarif traffic.sarif --output traffic.json -- sh sync.sh || status=$?
test $status = 1
grep -q 'PLANT-SECRET' traffic.sarif
grep -q '"verdict":"findings"' traffic.json
! grep -q 'a-long-test-password' traffic.sarif traffic.json

# The mend: https, and the same command again.
sed -i "s|http://$http|https://$https|" sync.sh
sallyport run --sarif traffic.sarif --output traffic.json --origin-ca "$ca" -- sh sync.sh
grep -q '"verdict":"clean"' traffic.json
