"""Downloads as RFC 9110 has it: download-carefully.py URL FILE.

Goes on under the tag that the beginning came with, compares what comes, and tells by its exit code
whether the file is whole and right.
"""

import base64
import hashlib
import http.client
import json
import os
import re
import sys
import urllib.parse

url, path = sys.argv[1:]
part, notes = path + ".part", path + ".notes"


def digests(head):
    for name in ("repr-digest", "digest"):
        found = re.match(r"(?i)sha-256=:?([A-Za-z0-9+/=]+?):?$", head.get(name, ""))
        if found:
            return found[1]
    return None


def known():
    try:
        with open(notes) as file:
            return json.load(file)
    except FileNotFoundError:
        return {}


def ask(start, tag):
    place = urllib.parse.urlsplit(url)
    connection = http.client.HTTPConnection(place.netloc, timeout=10)
    fields = {"Accept-Encoding": "identity", "Want-Repr-Digest": "sha-256=10"}
    if start:
        fields |= {"Range": f"bytes={start}-", "If-Range": tag}
    target = place.path + ("?" + place.query if place.query else "")
    connection.request("GET", target, headers=fields)
    answer = connection.getresponse()
    return answer, {name.lower(): value for name, value in answer.getheaders()}


def fetch(start, state):
    answer, head = ask(start, state.get("tag"))
    if answer.status == 416 or "content-encoding" in head:
        return None
    if answer.status == 206:
        label = re.match(r"bytes (\d+)-(\d+)/(\d+|\*)$", head.get("content-range", ""))
        if not label or int(label[1]) != start or head.get("etag") != state["tag"]:
            return None
        if label[3] != "*" and int(label[3]) != state["total"]:
            return None
    elif answer.status == 200:
        if head.get("content-type") != "application/octet-stream":
            return None
        start = 0
        tag = head.get("etag", "")
        length = head.get("content-length")
        state = {
            "tag": tag if tag.startswith('"') else None,
            "total": int(length) if length else None,
            "digest": digests(head),
        }
    else:
        sys.exit(f"status {answer.status}")
    with open(notes, "w") as file:
        json.dump(state, file)
    with open(part, "r+b" if start else "wb") as file:
        file.seek(start)
        try:
            while piece := answer.read1(65536):
                file.write(piece)
        except (http.client.IncompleteRead, ConnectionError):
            sys.exit("broke off")
    return state


state = known()
size = os.path.getsize(part) if os.path.exists(part) else 0
done = fetch(size if state.get("tag") and size else 0, state)
if done is None:
    # What came was no part of what is there.
    done = fetch(0, {})
if done is None:
    sys.exit("no whole came")
content = open(part, "rb").read()
if done["total"] is not None and done["total"] != len(content):
    sys.exit("not all came")
if done["digest"]:
    if base64.b64encode(hashlib.sha256(content).digest()).decode() != done["digest"]:
        os.remove(part)
        sys.exit("the digest is another")
elif done["total"] is None and not done["tag"]:
    sys.exit("nothing tells whether this is all")
os.replace(part, path)
