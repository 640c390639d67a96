"""Clients of Python's mail and file modules: which verify nothing unless they are told to.

A way that ends in `verified` has a context of ssl.create_default_context().
"""
import ftplib
import imaplib
import poplib
import smtplib
import ssl
import sys

how, host, port = sys.argv[1], sys.argv[2], int(sys.argv[3])
context = ssl.create_default_context() if how.endswith("verified") else None
what = how.removesuffix("-verified")
if what == "smtp-starttls":
    with smtplib.SMTP(host, port, timeout=10) as client:
        client.starttls(context=context)
        client.login("user", "secret-word")
elif what == "smtp-starttls-if-offered":
    with smtplib.SMTP(host, port, timeout=10) as client:
        client.ehlo()
        if client.has_extn("starttls"):
            client.starttls(context=context)
        client.login("user", "secret-word")
elif what == "smtp":
    with smtplib.SMTP_SSL(host, port, timeout=10, context=context) as client:
        client.ehlo()
elif what == "imap-starttls":
    client = imaplib.IMAP4(host, port, timeout=10)
    client.starttls(context)
    client.login("user", "secret-word")
elif what == "imap":
    client = imaplib.IMAP4_SSL(host, port, ssl_context=context, timeout=10)
    client.noop()
    client.logout()
elif what == "pop3-starttls":
    client = poplib.POP3(host, port, timeout=10)
    client.stls(context)
    client.user("user")
elif what == "pop3":
    client = poplib.POP3_SSL(host, port, context=context, timeout=10)
    client.user("user")
elif what == "ftp-starttls":
    client = ftplib.FTP_TLS(context=context, timeout=10)
    client.connect(host, port)
    client.login("user", "secret-word")
else:
    sys.exit(f"no such way: {how}")
