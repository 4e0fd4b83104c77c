"""Encryption: histories tell nobody without the key what the process is about.

Arguments, results, signals, failures and the published state are encrypted on their way to SWF and opened where they
are read. To rotate the key, give all workers and clients the new one beside the old, and then make it current. Ids and
tags stay readable: what is secret does not go there.

No sample of Flow's.

    python -m samples.encryption  # a worker, of the domain ``payroll``; PAYROLL_KEY is 32 bytes as base64
"""

from __future__ import annotations

import os
from base64 import b64decode
from collections.abc import Mapping
from dataclasses import dataclass, replace

from flowpy import Client, Worker, activity, set_state, workflow
from flowpy.data import Compression, Converter, Encryption, Payloads


def encrypting(keys: Mapping[str, bytes], current: str) -> Converter:
    """Compresses and encrypts all payloads with the current key, and reads what any of the keys has encrypted."""
    return Converter(payloads=Payloads(codecs=[Compression(), Encryption(keys, current=current)]))


@dataclass(frozen=True)
class Employee:
    """Whom nobody else is to know about.

    Attributes:
        name: Name.
        salary: Cents a month.
    """

    name: str
    salary: int


@activity(start_to_close_timeout="1m")
def raised(employee: Employee, percent: int) -> Employee:
    """An employee with a higher salary.

    Raises:
        ValueError: It would not be higher.
    """
    if percent <= 0:
        raise ValueError(f"{employee.name} earns {employee.salary}, and no raise is {percent} %")
    return replace(employee, salary=employee.salary * (100 + percent) // 100)


@workflow
async def raise_salary(employee: Employee, percent: int) -> Employee:
    """Raise somebody's salary."""
    set_state({"for": employee.name})
    return await raised(employee, percent)


if __name__ == "__main__":
    keys = {"2026-01": b64decode(os.environ["PAYROLL_KEY"])}
    client = Client("payroll", converter=encrypting(keys, "2026-01"))
    Worker(client, workflows=[raise_salary], activities=[raised]).run()
