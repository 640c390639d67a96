"""usage: with-pymysql.py PORT CA USER PASSWORD

Asks a MySQL server on localhost for the answer, over TLS with a certificate that must verify.
"""

import sys

import pymysql

port, authority, user, password = sys.argv[1:]
connection = pymysql.connect(
    host="localhost", port=int(port), user=user, password=password, connect_timeout=20,
    ssl={"ca": authority, "check_hostname": True})
with connection, connection.cursor() as cursor:
    cursor.execute("select 6 * 7")
    print(cursor.fetchone()[0])
