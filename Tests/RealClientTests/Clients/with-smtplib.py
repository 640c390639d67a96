"""usage: with-smtplib.py PORT CA USER PASSWORD

Sends a mail by SMTP to localhost, through STARTTLS, with a login.
"""

import smtplib
import ssl
import sys

port, authority, user, password = sys.argv[1:]
with smtplib.SMTP("localhost", int(port), timeout=20) as client:
    client.starttls(context=ssl.create_default_context(cafile=authority))
    client.login(user, password)
    client.sendmail("a@example.org", ["b@example.org"], "Subject: greetings\r\n\r\nHello.\r\n")
