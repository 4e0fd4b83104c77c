"""Identities (CONTRACTS §1): pure functions of where in the code's structure a call was made."""

from __future__ import annotations

import hashlib
import random
import uuid
from typing import Final

LONGEST: Final = 256
_KEPT: Final = 200

# Counters that are not activity names: a name never begins with this character, SWF refuses it.
TIMER: Final = "\0timer"
LAMBDA: Final = "\0lambda"
SIGNAL: Final = "\0signal"
CANCEL: Final = "\0cancel"
EFFECT: Final = "\0effect"
UUID: Final = "\0uuid"
CHILD: Final = "\0child:"


def fitted(id: str) -> str:
    """An id of at most SWF's 256 characters: its first 200, and 16 hex digits of the hash of the whole."""
    if len(id) <= LONGEST:
        return id
    return f"{id[:_KEPT]}-{hashlib.sha256(id.encode()).hexdigest()[:16]}"


def child_workflow_id(parent_workflow_id: str, parent_run_id: str, identity: str) -> str:
    """The workflowId of a child, from its parent and its place in the parent's code.

    >>> child_workflow_id("order-7", "run", "ship-1")
    'order-7.ship-1.acba2551'
    """
    return fitted(f"{parent_workflow_id}.{identity}.{hashlib.sha256(parent_run_id.encode()).hexdigest()[:8]}")


def numbered_uuid(run_id: str, path: str, number: int) -> uuid.UUID:
    """The n-th UUID of a task: version 4 bits over a hash of its place."""
    digest = hashlib.sha256(f"{run_id}/{path}uuid-{number}".encode()).digest()
    return uuid.UUID(bytes=digest[:16], version=4)


def task_random(run_id: str, path: str) -> random.Random:
    """The generator of a task, seeded from its place."""
    seed = int.from_bytes(hashlib.sha256(f"{run_id}/{path}random".encode()).digest(), "big")
    return random.Random(seed)  # noqa: S311 - has to be repeatable, is no secret
