"""A page's session in a shop: logs in, orders, looks at the order and takes a line of it back.

Usage: shopper.py ORIGIN; prints what the order costs.
"""

import http.cookiejar
import json
import re
import sys
import urllib.request

origin = sys.argv[1]
opener = urllib.request.build_opener(
    urllib.request.HTTPCookieProcessor(http.cookiejar.CookieJar()))
fields = {}


def ask(method, path, content=None, page="/"):
    kind = "application/json" if path.startswith("/api") else "application/x-www-form-urlencoded"
    head = dict(fields, Referer=origin + page)
    if method != "GET":
        head["Origin"] = origin
    if content is not None:
        head["Content-Type"] = kind
    request = urllib.request.Request(origin + path, content, head, method=method)
    return opener.open(request).read()


def tell(path, value, page):
    return json.loads(ask("POST", path, json.dumps(value).encode(), page))


ask("GET", "/")
page = ask("POST", "/login", b"user=alice")
fields["X-CSRF-Token"] = re.search('content="([^"]+)"', page.decode()).group(1)
order = tell("/api/orders", {}, "/dashboard")["id"]
place, page = "/api/orders/%d" % order, "/orders/%d" % order
tell(place + "/lines", {"name": "tea", "price": 4, "count": 2}, page)
line = tell(place + "/lines", {"name": "cups", "price": 9, "count": 1}, page)["id"]
print(json.loads(ask("GET", place, page=page))["total"])
ask("DELETE", place + "/lines/" + line, page=page)
print(json.loads(ask("GET", "/api/orders", page="/orders"))[0]["total"])
