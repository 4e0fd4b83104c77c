"""Large payloads: arguments and results of megabytes, where SWF takes 32,768 characters.

What is longer than that is kept in a store, and the history has a reference to it. Whoever reads it, a worker or a
client, has the same converter; workflow and activities see nothing of it. On AWS the store is an ``S3Store``.

No sample of Flow's.

    python -m samples.large_payloads /mnt/shared/payloads  # a worker, of the domain ``texts``
"""

from __future__ import annotations

import sys
from collections import defaultdict
from pathlib import Path

from flowpy import Client, Worker, activity, workflow
from flowpy.data import Converter, DirectoryStore, Payloads, Store


def storing(store: Store) -> Converter:
    """Keeps large payloads in a store that all workers and clients reach."""
    return Converter(payloads=Payloads(stores=[store]))


@activity(start_to_close_timeout="10m")
def read(file: Path) -> str:
    """The text of a file."""
    return file.read_text()


@activity(start_to_close_timeout="10m")
def index(text: str) -> dict[str, list[int]]:
    """The numbers of the lines in which each word stands."""
    found: defaultdict[str, list[int]] = defaultdict(list)
    for number, line in enumerate(text.splitlines(), 1):
        for word in sorted(set(line.lower().split())):
            found[word].append(number)
    return found


@workflow
async def concordance(file: Path) -> dict[str, list[int]]:
    """An index of a text."""
    return await index(read(file))


if __name__ == "__main__":
    client = Client("texts", converter=storing(DirectoryStore(sys.argv[1])))
    Worker(client, workflows=[concordance], activities=[read, index]).run()
