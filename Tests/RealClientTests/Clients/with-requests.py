"""usage: with-requests.py ORIGIN PROXY CA FOLDER UPLOAD NAME…

Fetches each NAME from the origin into the folder, then puts the file UPLOAD in chunks.
"""

import os
import sys

import requests

origin, proxy, authority, folder, upload, *names = sys.argv[1:]
session = requests.Session()
session.proxies = {"https": proxy}
session.verify = authority
for name in names:
    answer = session.get(f"{origin}/{name}", timeout=30)
    answer.raise_for_status()
    with open(os.path.join(folder, os.path.basename(name)), "wb") as file:
        file.write(answer.content)


def pieces(path):
    """A body without a known length, which is sent in chunks."""
    with open(path, "rb") as file:
        while piece := file.read(70_000):
            yield piece


if upload:
    url = f"{origin}/upload/{os.path.basename(upload)}"
    session.put(url, data=pieces(upload), timeout=30).raise_for_status()
