"""usage: with-aioapns.py PORT CA KEY KEY-ID TEAM TOPIC JOBS

Sends each push of the JSON file JOBS to a push service on this machine, and prints a line for each:
its status, the reason, and the time since when the device is gone.
"""

import asyncio
import json
import ssl
import sys

from aioapns import APNs, NotificationRequest, PushType
from aioapns.connection import APNsProductionClientProtocol, APNsTLSClientProtocol

port, authority, key, key_id, team, topic, jobs = sys.argv[1:]
APNsProductionClientProtocol.APNS_SERVER = "localhost"
APNsTLSClientProtocol.APNS_PORT = int(port)


async def report(request, result):
    """The library wants somebody to tell of refusals."""


async def send():
    with open(key, encoding="utf-8") as file:
        pem = file.read()
    for job in json.load(open(jobs, encoding="utf-8")):
        # Each on a connection of its own, which a refusal of a token spoils.
        client = APNs(
            key=pem,
            key_id=job.get("key", key_id),
            team_id=job.get("team", team),
            topic=job.get("topic", topic),
            ssl_context=ssl.create_default_context(cafile=authority),
            err_func=report,
        )
        request = NotificationRequest(
            device_token=job["token"],
            message=job["message"],
            priority=job.get("priority"),
            collapse_key=job.get("collapse"),
            push_type=PushType(job["type"]),
        )
        result = await asyncio.wait_for(client.send_notification(request), 30)
        print(result.status, result.description or "-", result.timestamp or "-", flush=True)
        client.pool.close()


asyncio.run(send())
