"""Errors: what is done about one depends on its type, and clean-up happens in any case.

An activity's exception arrives as ``ActivityFailed``, whose ``type`` is the name of the exception's class: the activity
may have run in another program, in another language. ``ApplicationError`` carries data along.

Flow's recipe: HandleError; ``try`` is its TryCatchFinally.

    flowpy run samples.handle_error:divide_all work '["6/3", "7/3", "1/0"]'
"""

from __future__ import annotations

from pathlib import Path

from flowpy import ActivityFailed, ApplicationError, activity, workflow


@activity(start_to_close_timeout="1m")
def lock(folder: Path, name: str) -> None:
    """Take a folder for oneself; FileExistsError if somebody has it already."""
    folder.mkdir(exist_ok=True)
    with (folder / "lock").open("x") as file:
        file.write(name)


@activity(start_to_close_timeout="1m")
def unlock(folder: Path) -> None:
    """Give the folder back."""
    (folder / "lock").unlink(missing_ok=True)


@activity(start_to_close_timeout="1m")
def divide(division: str) -> int:
    """Do a division such as 6/3, which must come out even."""
    dividend, _, divisor = division.partition("/")
    quotient, rest = divmod(int(dividend), int(divisor))
    if rest:
        raise ApplicationError(f"{division} leaves a rest", type="Uneven", data={"quotient": quotient, "rest": rest})
    return quotient


@workflow
async def divide_all(folder: Path, divisions: list[str]) -> list[str]:
    """Do divisions, in a folder that nobody else uses meanwhile."""
    await lock(folder, "divide_all")
    try:
        return [await quotient(division) for division in divisions]
    finally:
        await unlock(folder)


async def quotient(division: str) -> str:
    """What a division comes to, or what is wrong with it; errors of any other type are raised."""
    try:
        return str(await divide(division))
    except ActivityFailed as error:
        match error.type:
            case "Uneven":
                return f"{error.data['quotient']} rest {error.data['rest']}"
            case "ZeroDivisionError":
                return "infinite"
        raise
