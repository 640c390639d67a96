#!/bin/sh
# An app with a fixed host name is audited: it takes any name, until that is mended.
set -eu

cat >app.py <<'PYTHON'
import ssl, urllib.request

context = ssl.create_default_context()
context.check_hostname = False
request = urllib.request.Request("https://api.shop.example/v1/session", data=b"token=t0p")
urllib.request.urlopen(request, timeout=10, context=context).read()
PYTHON

status=0
sallyport audit --profile quick --jobs 2 --sarif audit.sarif --output audit.json -- \
    python3 app.py >audit.txt || status=$?
cat audit.txt
test $status = 1
grep -q 'checks the chain but not the name' audit.txt
grep -q '"ruleId"' audit.sarif

# The mend, and the same command again.
sed -i '/check_hostname/d' app.py
sallyport audit --profile quick --jobs 2 -- python3 app.py >mended.txt
cat mended.txt
