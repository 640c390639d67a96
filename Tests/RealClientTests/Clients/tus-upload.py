"""Uploads a file by tus: tus-upload.py URL FILE CHUNK CHECKSUM."""

import os
import sys

from tusclient import client

url, path, chunk, checksum = sys.argv[1:]
uploader = client.TusClient(url).uploader(
    path,
    chunk_size=int(chunk),
    retries=3,
    retry_delay=0,
    metadata={"filename": os.path.basename(path)},
    upload_checksum=checksum == "yes",
)
uploader.upload()
print(uploader.url, uploader.offset)
