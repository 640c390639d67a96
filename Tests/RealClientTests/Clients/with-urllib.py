"""usage: with-urllib.py ORIGIN PROXY CA FOLDER UPLOAD NAME…

Fetches each NAME from the origin into the folder, then puts the file UPLOAD.
"""

import gzip
import os
import ssl
import sys
import urllib.request

origin, proxy, authority, folder, upload, *names = sys.argv[1:]
opener = urllib.request.build_opener(
    urllib.request.ProxyHandler({"https": proxy}),
    urllib.request.HTTPSHandler(context=ssl.create_default_context(cafile=authority)),
)
for name in names:
    request = urllib.request.Request(f"{origin}/{name}", headers={"Accept-Encoding": "gzip"})
    with opener.open(request, timeout=30) as answer:
        content = answer.read()
        if answer.headers["Content-Encoding"] == "gzip":
            content = gzip.decompress(content)
    with open(os.path.join(folder, os.path.basename(name)), "wb") as file:
        file.write(content)
if upload:
    with open(upload, "rb") as file:
        request = urllib.request.Request(
            f"{origin}/upload/{os.path.basename(upload)}", data=file.read(), method="PUT"
        )
    opener.open(request, timeout=30).close()
