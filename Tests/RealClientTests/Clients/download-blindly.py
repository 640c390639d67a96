"""Appends whatever comes to what is there: download-blindly.py URL FILE."""

import http.client
import os
import sys
import urllib.parse

url, path = sys.argv[1:]
place = urllib.parse.urlsplit(url)
size = os.path.getsize(path) if os.path.exists(path) else 0
connection = http.client.HTTPConnection(place.netloc, timeout=10)
target = place.path + ("?" + place.query if place.query else "")
connection.request("GET", target, headers={"Range": f"bytes={size}-"} if size else {})
answer = connection.getresponse()
length = answer.getheader("Content-Length")
with open(path, "ab") as file:
    count = file.write(answer.read(int(length)) if length else b"")
    while not length and (piece := answer.read1(65536)):
        count += file.write(piece)
sys.exit(1 if length and count < int(length) else 0)
