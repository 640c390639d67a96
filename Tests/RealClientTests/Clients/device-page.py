"""Opens the proxy's page for devices in Chromium, in several sizes, and says how it came out.

Arguments: the proxy's host and port, the path of Chromium, its options. Prints a JSON document.
"""

import html.parser
import http.client
import json
import pathlib
import plistlib
import subprocess
import sys
import time
import urllib.request

from websockets.sync.client import connect

VIEWPORTS = [(320, 568), (390, 844), (844, 390), (768, 1024), (1024, 768), (1280, 800)]
PATIENCE = 50


class Page:
    """A tab of a browser that is told what to do by its debugging protocol."""

    def __init__(self, profile):
        started = time.monotonic()
        port_file = pathlib.Path(profile, "DevToolsActivePort")
        while not (port_file.exists() and port_file.read_text().count("\n")):
            if time.monotonic() > started + PATIENCE:
                sys.exit("Chromium did not start")
            time.sleep(0.05)
        port, path = port_file.read_text().split("\n")[:2]
        self.socket = connect(f"ws://127.0.0.1:{port}{path}", max_size=1 << 26, proxy=None)
        self.number = 0
        self.session = None
        self.problems = []
        target = self.ask("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.ask("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Log", "Runtime", "Security"):
            self.ask(f"{domain}.enable")

    def ask(self, method, **parameters):
        self.number += 1
        message = {"id": self.number, "method": method, "params": parameters}
        if self.session:
            message["sessionId"] = self.session
        self.socket.send(json.dumps(message))
        return self.wait(lambda answer: answer.get("id") == self.number)["result"]

    def wait(self, is_wanted):
        while True:
            message = json.loads(self.socket.recv(timeout=PATIENCE))
            if message.get("method") == "Log.entryAdded":
                self.problems.append(message["params"]["entry"]["text"])
            if "error" in message:
                sys.exit(f"Chromium: {message}")
            if is_wanted(message):
                return message

    def open(self, url):
        failure = self.ask("Page.navigate", url=url).get("errorText")
        if failure:
            sys.exit(f"{url}: {failure}")
        self.wait(lambda message: message.get("method") == "Page.loadEventFired")

    def value(self, expression):
        return self.ask("Runtime.evaluate", expression=expression)["result"].get("value")


def measure(page):
    sizes = []
    for width, height in VIEWPORTS:
        orientation = "portraitPrimary" if height > width else "landscapePrimary"
        page.ask(
            "Emulation.setDeviceMetricsOverride", width=width, height=height,
            deviceScaleFactor=1, mobile=width < 1000,
            screenOrientation={"type": orientation, "angle": 0 if height > width else 90})
        page.open("http://sallyport.test/")
        page.value("document.querySelectorAll('details').forEach(part => part.open = true)")
        sizes.append(
            {
                "viewport": width,
                "content": page.value("document.documentElement.scrollWidth"),
                "smallest": page.value(
                    "Math.min(...[...document.querySelectorAll('a')]"
                    ".map(link => link.getBoundingClientRect().height))"),
                "text": page.value("parseFloat(getComputedStyle(document.body).fontSize)"),
            })
    return sizes


class Links(html.parser.HTMLParser):
    def __init__(self):
        super().__init__()
        self.found = []

    def handle_starttag(self, tag, attributes):
        self.found += [value for name, value in attributes if name == "href" and tag == "a"]


def fetch(proxy, path):
    """A file of the page's, asked for as a browser asks its proxy."""
    connection = http.client.HTTPConnection(proxy, timeout=PATIENCE)
    connection.request("GET", f"http://sallyport.test{path}")
    answer = connection.getresponse()
    return answer.status, answer.read()


def main():
    proxy, chromium, *options = sys.argv[1:]
    profile = next(option for option in options if option.startswith("--user-data-dir="))
    browser = subprocess.Popen(
        [chromium, *options, "--remote-debugging-port=0", "about:blank"],
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        page = Page(profile.split("=", 1)[1])
        sizes = measure(page)
        page.open("https://sallyport.test/")
        done = page.value("document.querySelectorAll('.done').length")
        problems = page.problems
    finally:
        browser.kill()
        browser.wait()
    _, text = fetch(proxy, "/")
    links = Links()
    links.feed(text.decode())
    own = sorted({link for link in links.found if link.startswith("/")})
    files = {path: fetch(proxy, path) for path in own}
    for path, (_, content) in files.items():
        pathlib.Path(path[1:]).write_bytes(content)
    profile = plistlib.loads(files["/sallyport.mobileconfig"][1])
    payload = profile["PayloadContent"][0]
    print(json.dumps({
        "sizes": sizes, "done": done, "problems": problems,
        "links": [{"path": path, "status": status} for path, (status, _) in files.items()],
        "profile": profile["PayloadType"], "payload": payload["PayloadType"],
        "holdsTheCertificate": payload["PayloadContent"] == files["/sallyport.cer"][1],
    }))


main()
