"""Clients of Python's mail modules, which verify nothing unless they are told to."""
import imaplib
import smtplib
import ssl
import sys

how, host, port = sys.argv[1], sys.argv[2], int(sys.argv[3])
context = ssl.create_default_context() if how.endswith("verified") else None
if how.startswith("smtp-starttls"):
    with smtplib.SMTP(host, port, timeout=10) as client:
        client.starttls(context=context)
        client.login("user", "secret-word")
elif how.startswith("smtp"):
    with smtplib.SMTP_SSL(host, port, timeout=10, context=context) as client:
        client.ehlo()
else:
    client = imaplib.IMAP4_SSL(host, port, ssl_context=context, timeout=10)
    client.noop()
    client.logout()
