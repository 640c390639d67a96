"""Downloads without ranges, and with one mistake: download-wrongly.py URL FILE MISTAKE.

cut: takes what comes for whole. twice: appends a whole to what is there. none: begins anew.
"""

import http.client
import sys
import urllib.parse

url, path, mistake = sys.argv[1:]
place = urllib.parse.urlsplit(url)
connection = http.client.HTTPConnection(place.netloc, timeout=10)
connection.request("GET", place.path + ("?" + place.query if place.query else ""))
answer = connection.getresponse()
length = answer.getheader("Content-Length")
count = 0
with open(path, "ab" if mistake == "twice" else "wb") as file:
    while piece := answer.read1(65536):
        count += file.write(piece)
sys.exit(1 if length and count < int(length) and mistake != "cut" else 0)
