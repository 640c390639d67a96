import asyncio
import sys

import aiohttp


async def main():
    async with aiohttp.ClientSession() as session, session.get(sys.argv[1]) as response:
        print(await response.text(), end="")


asyncio.run(main())
