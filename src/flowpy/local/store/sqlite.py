"""The store: each transaction of the engine is one of SQLite's, and writes what it changed and nothing else."""

from __future__ import annotations

import sqlite3
from contextlib import suppress
from pathlib import Path

from flowpy.local.engine.deadlines import Deadline
from flowpy.local.engine.state import Effect, Execution
from flowpy.local.engine.store import Store
from flowpy.local.engine.world import World
from flowpy.local.store.documents import (
    decode_domain,
    decode_type,
    encode_domain,
    encode_events,
    encode_fixed,
    encode_open,
    encode_state,
    encode_type,
    key,
)
from flowpy.local.store.runs import StoredRuns
from flowpy.local.store.schema import Synchronous, open_database

__all__ = ["SQLiteStore"]


class SQLiteStore(Store):
    """Keeps the state of one engine in one SQLite database.

    A call is answered once it is committed: killing the process loses no call that was answered, and no timer.
    Histories grow by what is new and are never rewritten; closed executions leave the memory and, when their domain's
    retention period is over, the database.

    Args:
        path: Of the file, which is made if there is none; ":memory:" keeps nothing beyond the process.
        synchronous: "NORMAL" lets the system decide when what was committed reaches the disk: nothing is lost with the
            process, only with the machine's power, and the database stays whole. "FULL" waits for the disk at each
            call, and loses nothing then either; a call then takes up to twice as long.

    Raises:
        OSError: The file cannot be opened, is in use by another engine, or holds something else.
    """

    def __init__(self, path: str | Path, *, synchronous: Synchronous = "NORMAL") -> None:
        self._database = open_database(path, synchronous)
        self._runs: StoredRuns | None = None

    def load(self, world: World) -> None:
        self._runs = runs = StoredRuns(self._database, lambda: self._flush(world))
        world.runs = runs
        now, world.run_count = self._database.execute("SELECT now, run_count FROM clock").fetchone()
        # What fell due meanwhile happens at its time: the state goes on from where it ended, not from now.
        world.now = now or world.now
        for (body,) in self._database.execute("SELECT body FROM domains"):
            domain = decode_domain(body)
            world.domains[domain.name] = domain
            for (type_body,) in self._database.execute("SELECT body FROM types WHERE domain = ?", (key(domain.name),)):
                found = decode_type(type_body)
                domain.types[found.kind, found.name, found.version] = found
        for run in runs.unread():
            _restore(world, run)
        for row in self._database.execute("SELECT kind, run_id, event_id, cause, number FROM effects ORDER BY number"):
            world.effects.append(Effect(*row))
            world.effect_count = world.effects[-1].number

    def commit(self, world: World) -> None:
        self._flush(world)
        if self._database.in_transaction:
            self._database.execute("COMMIT")
        if self._runs is not None:
            self._runs.settle()

    def roll_back(self) -> bool:
        with suppress(sqlite3.Error):
            if self._database.in_transaction:
                self._database.execute("ROLLBACK")
        return True

    def close(self) -> None:
        self._database.close()

    def _flush(self, world: World) -> None:
        changes = world.changes
        if not changes:
            return
        if not self._database.in_transaction:
            self._database.execute("BEGIN IMMEDIATE")
        for domain in changes.domains.values():
            self._write("INSERT OR REPLACE INTO domains VALUES (?, ?)", key(domain.name), encode_domain(domain))
        for (domain_name, (kind, name, version)), registration in changes.types.items():
            which = (key(domain_name), kind, key(name), key(version))
            if registration is None:
                self._write("DELETE FROM types WHERE domain = ? AND kind = ? AND name = ? AND version = ?", *which)
            else:
                self._write("INSERT OR REPLACE INTO types VALUES (?, ?, ?, ?, ?)", *which, encode_type(registration))
        for run in changes.runs.values():
            self._write_run(run)
        for run_id, event_id in changes.open:
            self._write_open(changes.runs[run_id], event_id)
        for number, effect in changes.effects.items():
            if effect is None:
                self._write("DELETE FROM effects WHERE number = ?", number)
            else:
                values = (number, effect.kind, effect.run_id, effect.event_id, effect.cause)
                self._write("INSERT INTO effects VALUES (?, ?, ?, ?, ?)", *values)
        self._write("UPDATE clock SET now = ?, run_count = ?", world.now, world.run_count)
        changes.clear()

    def _write_run(self, run: Execution) -> None:
        length, state = len(run.events), encode_state(run)
        if not run.stored:
            self._insert(run, state)
        else:
            self._write("UPDATE executions SET state = ?, length = ? WHERE number = ?", state, length, run.number)
        if length > run.stored:
            new = encode_events(run.events[run.stored :])
            self._write("INSERT INTO events VALUES (?, ?, ?)", run.number, run.stored + 1, new)
            run.stored = length
        if not run.is_open:
            close = (run.closed, run.close_status, run.expires, run.number)
            self._write("UPDATE executions SET closed = ?, close_status = ?, expires = ? WHERE number = ?", *close)

    def _write_open(self, run: Execution, event_id: int) -> None:
        body = encode_open(run, event_id)
        if body is None:
            self._write("DELETE FROM open WHERE execution = ? AND event_id = ?", run.number, event_id)
        else:
            self._write("INSERT OR REPLACE INTO open VALUES (?, ?, ?)", run.number, event_id, body)

    def _insert(self, run: Execution, state: str) -> None:
        domain, workflow_type = key(run.domain), run.workflow_type
        self._write(
            "INSERT INTO executions (number, run_id, domain, workflow_id, type_name, type_version, started, fixed, "
            "state, length) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            *(run.number, run.run_id, domain, key(run.workflow_id)),
            *(key(workflow_type["name"]), key(workflow_type["version"]), run.started),
            *(encode_fixed(run), state, len(run.events)),
        )
        for tag in dict.fromkeys(run.tag_list):
            self._write("INSERT INTO tags VALUES (?, ?, ?)", domain, key(tag), run.number)

    def _write(self, statement: str, *values: str | bytes | float | None) -> None:
        self._database.execute(statement, values)


def _restore(world: World, run: Execution) -> None:
    """Puts an open execution where the state beside the executions has to have it."""
    world.domains[run.domain].open_runs[run.workflow_id] = run.run_id
    for (kind, event_id), (at, number) in run.deadlines.items():
        world.deadlines.restore(number, Deadline(at, kind, run.run_id, event_id))
    if run.decision is not None and not run.decision.started_event_id:
        world.offer_decision(run, run.decision)
    for task in run.activities.values():
        if not task.started_event_id:
            world.offer_activity(run, task)
