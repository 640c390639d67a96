"""A client of requests: default, verify=False, or a session that does not verify."""
import sys

import requests

how, url = sys.argv[1], sys.argv[2]
if how == "unverified":
    print(requests.get(url, verify=False, timeout=10).text)
elif how == "session":
    session = requests.Session()
    session.verify = False
    print(session.get(url, timeout=10).text)
else:
    print(requests.get(url, timeout=10).text)
