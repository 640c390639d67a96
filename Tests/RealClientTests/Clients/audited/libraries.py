"""Clients of Python libraries: libraries.py LIBRARY HOW HOST PORT CA.

HOW is `default`, `unverified` (nothing is checked), `no-hostname` or `no-chain`, as the library lets
one say it, or what else one of the functions below knows. Each asks once, prints what it is told,
and ends with an error if it is refused.
"""
import asyncio
import ssl
import sys

library, how, host, port, ca = sys.argv[1:6]
port = int(port)
url = f"https://{host}/" if port == 443 else f"https://{host}:{port}/"


def context():
    """Python's own, with what `how` switches off."""
    made = ssl.create_default_context()
    if how in ("no-hostname", "unverified"):
        made.check_hostname = False
    if how == "unverified":
        made.verify_mode = ssl.CERT_NONE
    return made


def urllib():
    import urllib.request
    print(urllib.request.urlopen(url, timeout=10, context=context()).read())


def http_client():
    import http.client
    connection = http.client.HTTPSConnection(host, port, timeout=10, context=context())
    connection.request("GET", "/")
    print(connection.getresponse().read())


def urllib3():
    import urllib3
    options = {
        "default": {}, "unverified": {"cert_reqs": "CERT_NONE", "assert_hostname": False},
        "no-hostname": {"assert_hostname": False},
    }[how]
    print(urllib3.PoolManager(timeout=10, retries=urllib3.Retry(2, connect=0), **options)
          .request("GET", url).data)


def httpx():
    import httpx
    options = {} if how == "default" else {"verify": context()}
    print(httpx.get(url, timeout=10, follow_redirects=how == "follow", **options).text)


def aiohttp():
    import aiohttp

    async def get():
        options = {"default": {}, "unverified": {"ssl": False}, "no-hostname": {"ssl": context()}}[how]
        async with aiohttp.ClientSession() as session, session.get(url, **options) as answer:
            print(await answer.text())
    asyncio.run(get())


def pycurl():
    import pycurl
    handle = pycurl.Curl()
    handle.setopt(pycurl.URL, url)
    handle.setopt(pycurl.TIMEOUT, 10)
    handle.setopt(pycurl.CAINFO, "/etc/ssl/certs/ca-certificates.crt")
    if how in ("no-chain", "unverified"):
        handle.setopt(pycurl.SSL_VERIFYPEER, 0)
    if how in ("no-hostname", "unverified"):
        handle.setopt(pycurl.SSL_VERIFYHOST, 0)
    handle.perform()


def httplib2():
    import httplib2
    client = httplib2.Http(
        timeout=10, ca_certs=ca, disable_ssl_certificate_validation=how == "unverified")
    print(client.request(url)[1])


def tornado():
    from tornado.httpclient import AsyncHTTPClient

    async def get():
        options = {"validate_cert": False} if how == "unverified" else {}
        print((await AsyncHTTPClient().fetch(url, request_timeout=10, **options)).body)
    asyncio.run(get())


def websockets():
    from websockets.sync.client import connect
    with connect(f"wss://{host}:{port}/", ssl=context(), open_timeout=10) as socket:
        socket.send("hello")


def grpc():
    import grpc
    channel = grpc.secure_channel(f"{host}:{port}", grpc.ssl_channel_credentials())
    channel.unary_unary("/a.B/C")(b"", timeout=3)


def paho():
    import paho.mqtt.client as mqtt
    client = mqtt.Client(mqtt.CallbackAPIVersion.VERSION2)
    client.tls_set(ca_certs=ca, cert_reqs=ssl.CERT_NONE if how == "unverified" else ssl.CERT_REQUIRED)
    client.tls_insecure_set(how != "default")
    client.connect(host, port)
    while client.loop(1) == 0:
        pass
    sys.exit(1)


def redis():
    import redis
    options = {
        "default": {}, "no-hostname": {"ssl_check_hostname": False},
        "unverified": {"ssl_check_hostname": False, "ssl_cert_reqs": "none"},
    }[how]
    redis.Redis(host=host, port=port, ssl=True, ssl_ca_certs=ca, socket_timeout=10, retry=None,
                **options).ping()


def ldap3():
    import ldap3
    tls = ldap3.Tls(
        validate=ssl.CERT_NONE if how.startswith("unverified") else ssl.CERT_REQUIRED,
        ca_certs_file=ca)
    server = ldap3.Server(host, port, use_ssl=not how.endswith("starttls"), tls=tls, connect_timeout=10)
    connection = ldap3.Connection(server, "cn=a", "secret", receive_timeout=10)
    connection.open()
    if how.endswith("starttls") and not connection.start_tls():
        sys.exit(1)
    connection.bind()


def pymysql():
    import pymysql
    options = {
        "default": {"ssl_ca": ca, "ssl_verify_cert": True, "ssl_verify_identity": True},
        "no-hostname": {"ssl_ca": ca, "ssl_verify_cert": True},
        "unverified": {"ssl": {"verify_mode": None, "check_hostname": False, "fake": True}},
    }[how]
    pymysql.connect(host=host, port=port, user="user", password="secret", connect_timeout=10, **options)


def asyncpg():
    import asyncpg
    mode = {"default": ssl.create_default_context(), "prefer": "prefer", "require": "require",
            "unverified": context()}[how]
    asyncio.run(asyncpg.connect(
        host=host, port=port, user="user", password="secret", database="data", ssl=mode, timeout=10))


def psycopg():
    import psycopg
    root = f" sslrootcert={ca}" if how.startswith("verify") else ""
    psycopg.connect(f"host={host} port={port} user=user dbname=data connect_timeout=10 sslmode={how}"
                    + root)


def pyopenssl():
    """`as-of-issue` judges as of the hour after the leaf was issued."""
    import datetime
    import socket
    from OpenSSL import SSL, crypto
    tls = SSL.Connection(SSL.Context(SSL.TLS_CLIENT_METHOD), socket.create_connection((host, port)))
    tls.set_tlsext_host_name(host.encode())
    tls.set_connect_state()
    tls.do_handshake()
    chain = tls.get_peer_cert_chain()
    store = crypto.X509Store()
    store.load_locations(ca)
    if how == "as-of-issue":
        begin = datetime.datetime.strptime(chain[0].get_notBefore().decode(), "%Y%m%d%H%M%SZ")
        store.set_time(begin + datetime.timedelta(hours=1))
    crypto.X509StoreContext(store, chain[0], chain[1:]).verify_certificate()
    leaf = chain[0].to_cryptography()
    from cryptography import x509
    names = leaf.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    if host not in names.get_values_for_type(x509.DNSName):
        sys.exit("another name")
    tls.sendall(f"GET / HTTP/1.0\r\nHost: {host}\r\n\r\n".encode())
    print(tls.recv(4096))


globals()[library.replace(".", "_")]()
