"""File processing: three activities that must run on the same machine, because the file between them is there.

Whichever machine is free takes the first, from the task list that all share. It answers with the name of a task list of
its own, and the others are sent there. If that machine dies, nobody takes them: SCHEDULE_TO_START times out, and it all
begins again elsewhere.

Flow's sample: FileProcessing.

    flowpy run samples.file_processing:process README.md README.md.gz
    python -m samples.file_processing  # on each machine, for those that are started in the domain ``files``
"""

from __future__ import annotations

import gzip
import shutil
import socket
import tempfile
from pathlib import Path

from flowpy import ActivityTimedOut, Client, Worker, activity, workflow

SHARED = "files"
MACHINES = 3  # that are tried
TAKEN_WITHIN = "10m"


def own_task_list() -> str:
    """The task list that this machine alone polls."""
    return f"{SHARED}-{socket.gethostname()}"


@activity(task_list=SHARED, start_to_close_timeout="1h")
def download(source: Path) -> tuple[str, Path]:
    """Fetch a file; gives the task list of the machine that has it now, and where it is there."""
    folder = Path(tempfile.mkdtemp(prefix="file-processing-"))
    return own_task_list(), Path(shutil.copy(source, folder))


@activity(start_to_close_timeout="1h", schedule_to_start_timeout=TAKEN_WITHIN)
def compress(file: Path) -> Path:
    """Make the file smaller."""
    compressed = file.with_name(f"{file.name}.gz")
    with file.open("rb") as plain, gzip.open(compressed, "wb") as packed:
        shutil.copyfileobj(plain, packed)
    return compressed


@activity(start_to_close_timeout="1h", schedule_to_start_timeout=TAKEN_WITHIN)
def upload(file: Path, target: Path) -> int:
    """Bring the file where it belongs, and clear up; gives its size in bytes."""
    shutil.copy(file, target)
    shutil.rmtree(file.parent)
    return target.stat().st_size


@workflow
async def process(source: Path, target: Path) -> int:
    """Fetch, compress and store a file on one machine; gives its size in the end."""
    for _ in range(MACHINES - 1):
        try:
            return await on_one_machine(source, target)
        except ActivityTimedOut as error:
            if error.timeout_type != "SCHEDULE_TO_START":
                raise
    return await on_one_machine(source, target)


async def on_one_machine(source: Path, target: Path) -> int:
    """All three steps where the first one happens to run."""
    task_list, file = await download(source)
    compressed = await compress.options(task_list=task_list)(file)
    return await upload.options(task_list=task_list)(compressed, target)


def workers(client: Client) -> tuple[Worker, Worker]:
    """What works on a machine: a worker for the list that all share, and one for its own."""
    return (
        Worker(client, workflows=[process], activities=[download], task_list=SHARED),
        Worker(client, activities=[compress, upload], task_list=own_task_list()),
    )


if __name__ == "__main__":
    shared, own = workers(Client("files"))
    with own:
        shared.run()
