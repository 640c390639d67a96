"""A plugin of pytest for the suites that compare-suites runs.

Writes what becomes of each test at once, so that nothing is lost where a suite ends early, and has
the suites make their certificates with the CA that stands in the tool's place, so that a client that
trusts the suite's servers trusts them through the tool as well.
"""

import logging
import os
import pathlib
import tempfile

AUTHORITY = os.environ.get("SUITE_AUTHORITY")
OUTCOMES = open(os.environ["SUITE_OUTCOMES"], "a", encoding="utf-8", buffering=1)
WORST = {"passed": 0, "skipped": 1, "failed": 2}
outcomes = {}

# Tornado's tests fail if there is an access log that they do not expect; its own runner does this.
logging.getLogger("tornado.access").setLevel(logging.CRITICAL)


def authority():
    """The CA, as those that are made by tests."""
    folder = pathlib.Path(AUTHORITY)
    return original.from_pem((folder / "ca.pem").read_bytes(), (folder / "ca.key").read_bytes())


def use_for_httpbin(ca):
    """pytest-httpbin has certificates of its own, whose CA's key is not there."""
    try:
        from pytest_httpbin import certs, serve
    except ImportError:
        return
    folder = pathlib.Path(tempfile.mkdtemp(prefix="suite-certificates-"))
    leaf = ca.issue_cert("localhost", "127.0.0.1", "::1")
    leaf.private_key_pem.write_to_path(folder / "server.key")
    for number, blob in enumerate(leaf.cert_chain_pems):
        blob.write_to_path(folder / "server.pem", append=number > 0)
    ca.cert_pem.write_to_path(folder / "client.pem")
    serve.CERT_DIR = str(folder)
    certs.where = lambda: str(folder / "client.pem")


if AUTHORITY:
    import trustme

    original = trustme.CA

    class CA(original):
        def __new__(cls, *arguments, **options):
            if arguments or options:
                return original(*arguments, **options)
            return authority()

    trustme.CA = CA
    use_for_httpbin(authority())


def pytest_collection_finish(session):
    OUTCOMES.write(f"count\t{len(session.items)}\n")


def pytest_runtest_logreport(report):
    outcome = report.outcome
    if hasattr(report, "wasxfail"):
        # Whether it fails as expected is the test's own affair.
        outcome = f"x{outcome}"
    known = outcomes.get(report.nodeid)
    if known is None or WORST.get(outcome, 3) > WORST.get(known, 3):
        outcomes[report.nodeid] = outcome
    if report.when == "teardown":
        OUTCOMES.write(f"{outcomes.pop(report.nodeid)}\t{report.nodeid!r}\n")


def pytest_unconfigure():
    OUTCOMES.close()
