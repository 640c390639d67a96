#!/bin/sh
# A client fails behind the proxy: it trusts one CA of its own alone. What is wrong is found, and
# what lets it work.
set -eu

sallyport content --listen 127.0.0.1:0 --tls-listen 127.0.0.1:0 --json >content.json &
content=$!
trap 'kill $content' EXIT
until [ -s content.json ]; do sleep 0.1; done
field() { sed -nE "s/.*\"$1\":\"([^\"]*)\".*/\1/p" content.json; }
url=https://$(field https)/assets/1/100 ca=$(field ca)

cat >pinned.py <<PYTHON
import ssl, urllib.request

context = ssl.create_default_context(cafile="$ca")
print(len(urllib.request.urlopen("$url", timeout=10, context=context).read()))
PYTHON

status=0
no_proxy='' sallyport run --origin-ca "$ca" --capture failing.sallyport -- python3 pinned.py 2>talk.txt ||
    status=$?
cat talk.txt
test $status = 3
grep -q 'refused' talk.txt
sallyport connections failing.sallyport --filter outcome=client-refused >why.txt
cat why.txt
grep -q 'unknown_ca\|does not trust' why.txt

# Passed through, it works; what it says stays its own.
no_proxy='' sallyport run --origin-ca "$ca" --pass-through 127.0.0.1 --capture passed.sallyport -- \
    python3 pinned.py | grep -x 100
