"""Mistakes at the command line: two lines at most, the exit code of the table, never a traceback."""

from __future__ import annotations

import json
import socket
from pathlib import Path

import pytest
from click.testing import CliRunner

from flowpy.cli.commands import flowpy as command
from flowpy.cli.histories import write

from .conftest import Flowpy

BROKEN = {
    "syntax": "def f(:\n",
    "raising": 'raise RuntimeError("one line\\nand another")\n',
    "ending": "import sys\nsys.exit(3)\n",
    "declared": "from flowpy import workflow\n\n\n@workflow(version='1.0')\nasync def w(*rest: int) -> None: ...\n",
}


@pytest.fixture
def broken(shop: Path) -> Path:
    for name, text in BROKEN.items():
        (shop / f"{name}.py").write_text(text, encoding="utf-8")
    return shop


@pytest.mark.parametrize("first", ["run", "worker"])
@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("syntax", "SyntaxError: invalid syntax ({here}/syntax.py:1)"),
        ("raising", "RuntimeError: one line and another ({here}/raising.py:1)"),
        ("ending", "it ends the process when it is imported, with 3 ({here}/ending.py:2)"),
        ("declared", "({here}/declared.py:4)"),
    ],
)
def test_a_module_that_cannot_be_imported_is_told_with_the_users_line(
    flowpy: Flowpy, broken: Path, first: str, name: str, told: str
) -> None:
    done = flowpy(first, name)

    error, hint = done.stderr.splitlines()
    remedy = "take one list instead: rest: list[...]" if name == "declared" else f"flowpy {first} --help"
    assert (done.exit_code, hint) == (2, f"hint: {remedy}")
    assert told.format(here=broken) in error


RAISING = """\
from flowpy import query, execute, workflow


@workflow
async def order(size: int = 0) -> None:
    raise ValueError("1 error\\n  cents\\n    is " + "9" * size)


@workflow
async def made() -> object:
    return object()
"""


def test_what_a_workflow_raises_is_one_line_and_whole_as_json(flowpy: Flowpy, shop: Path) -> None:
    (shop / "raising.py").write_text(RAISING)

    short, long = flowpy("run", "raising:order"), flowpy("run", "raising:order", "240")
    told = json.loads(flowpy("run", "raising:order", "240", "--json").stderr)

    for done in (short, long):
        error, hint = done.stderr.splitlines()
        assert "failed: ValueError: 1 error cents is" in error
        assert hint == f"hint: it was raised at {shop}/raising.py:6 in order"
    assert len(long.stderr.splitlines()[0]) < 420
    assert "1 error\n  cents\n    is 999" in told["message"]


def test_a_line_of_flowpys_own_is_no_place_to_look_at(flowpy: Flowpy, shop: Path) -> None:
    (shop / "raising.py").write_text(RAISING)

    assert "it was raised at" not in flowpy("run", "raising:made").stderr


@pytest.mark.parametrize(
    ("arguments", "remedy"),
    [
        (["run", "shop:order", "o-7", "--workflow-id", "a:b"], "use '-', '_' or '.' instead"),
        (["start", "shop:order", "o-7", "--task-priority", "9999999999"], "give a whole number from "),
        (["result", "o-7", "--timeout", "soon"], "a duration is seconds, or such as 90s, 5m, 1h30m, 30d"),
        (["query", "shop", "o-7", "x", "--domain", ""], "give --domain NAME, or set FLOWPY_DOMAIN"),
        (["run", "declared"], "take one list instead: rest: list[...]"),
        (["types", "register", "nowhere"], "give a dotted name, as in shop.orders"),
        (["history", "o-7", "--key", "k"], "give both"),
        (["show", "shop.py"], "Record it again with `aws swf get-workflow-execution-history`"),
    ],
)
def test_what_to_do_is_a_hint_and_a_member_of_the_json(
    flowpy: Flowpy, broken: Path, arguments: list[str], remedy: str
) -> None:
    plain, told = flowpy(*arguments), json.loads(flowpy(*arguments, "--json").stderr)

    error, hint = plain.stderr.splitlines()
    assert hint.startswith(f"hint: {remedy}")
    assert (told["remedy"], told["exit"]) == (hint.removeprefix("hint: "), plain.exit_code)
    assert remedy not in error
    assert remedy not in told["message"]


def test_a_mistake_of_the_users_code_has_its_code_though_the_command_is_used_wrongly(
    flowpy: Flowpy, broken: Path
) -> None:
    told = json.loads(flowpy("run", "declared", "--json").stderr)

    assert (told["error"], told["code"], told["exit"]) == ("UsageError", "FLOWPY-D1", 2)


@pytest.mark.parametrize("arguments", [["strt"], ["types", "lst"], ["--nosuch"], ["list", "--limit", "x"]])
def test_json_is_json_also_before_there_is_a_command(flowpy: Flowpy, arguments: list[str]) -> None:
    told = json.loads(flowpy(*arguments, "--json").stderr)

    assert (told["exit"], set(told)) == (2, {"error", "code", "exit", "message", "remedy"})


def test_nobody_is_told_anything_and_that_is_said(flowpy: Flowpy) -> None:
    done = flowpy("cancel", "-", input="")

    assert (done.exit_code, done.stdout, done.stderr) == (0, "", "no executions\n")


@pytest.mark.parametrize("name", ["", ".", "..shop", "../shop.py", "/etc/passwd:order", ":order", "shop,,shop"])
def test_what_names_no_module(flowpy: Flowpy, name: str) -> None:
    done = flowpy("replay", name, "no.history.json")

    assert done.exit_code == 2
    assert "give a dotted name, as in shop.orders" in done.stderr


def test_the_path_of_a_module_here_is_taken_for_its_name(flowpy: Flowpy) -> None:
    assert flowpy("run", "./shop.py:order", "o-7", "--signal", "approval", "true").stdout == "r-o-7-4200\n"


@pytest.mark.parametrize(
    "arguments",
    [
        ("init", "{file}/project"),
        ("run", "shop:order", "o-7", "--signal", "approval", "true", "--save", "{file}/a.history.json"),
        ("show", "{history}", "--html", "{file}/a.html"),
        ("show", "{history}", "--svg", "{file}/a.svg"),
    ],
)
def test_what_cannot_be_written_is_told_by_its_name(flowpy: Flowpy, shop: Path, arguments: tuple[str, ...]) -> None:
    flowpy("run", "shop:order", "o-7", "--signal", "approval", "true", "--save", "stored.history.json")
    named = {"file": shop / "shop.py", "history": "stored.history.json"}

    done = flowpy(*(one.format(**named) for one in arguments))

    error, hint = done.stderr.splitlines()[-2:]
    assert done.exit_code == 2
    assert error.startswith(f"error: {named['file']}")
    assert hint == "hint: is its folder there, and may you read and write there?"


def test_a_history_that_cannot_be_stored_does_not_hide_what_became_of_the_run(flowpy: Flowpy, shop: Path) -> None:
    done = flowpy("run", "shop:Parcel", "--save", f"{shop}/shop.py/a.history.json")

    noted, error = done.stderr.splitlines()[:2]
    assert done.exit_code == 8
    assert noted.startswith(f"{shop}/shop.py")
    assert noted.endswith(": the history is not stored")
    assert error.startswith("error: nothing can happen any more")


def test_a_file_is_told_by_the_name_that_was_given(tmp_path: Path) -> None:
    with pytest.raises(IsADirectoryError) as raised:
        write(tmp_path, "o-7", "22abc=", [])

    assert raised.value.filename == str(tmp_path)


@pytest.mark.parametrize("text", ['{"args": 5}', '{"cents": 5}', '{"args": [], "kwargs": []}'])
def test_an_input_that_holds_no_arguments_is_not_started_without_any(flowpy: Flowpy, text: str) -> None:
    done = flowpy("start", "order", "--input", text)

    assert done.exit_code == 2
    assert done.stderr.splitlines()[1].startswith("""hint: it takes [...], such as '["o-7", 2]', or {"args": [...],""")


@pytest.mark.parametrize("workflow_id", ["", "x" * 300, "a/b"])
def test_what_swf_cannot_accept_is_told_in_two_lines(flowpy: Flowpy, workflow_id: str) -> None:
    done = flowpy("describe", workflow_id)

    error, hint = done.stderr.splitlines()
    assert (done.exit_code, "1 to 256 characters" in hint, "x" * 61 in error) == (6, True, False)


def test_a_type_that_is_not_deprecated_cannot_be_taken_back(flowpy: Flowpy) -> None:
    flowpy("types", "register", "shop", "--register-domain", "1")

    done = flowpy("types", "undeprecate", "workflow", "order", "1.0")

    assert (done.exit_code, done.stderr.splitlines()[1]) == (
        5,
        "hint: it is in use, and not deprecated: there is nothing to take back",
    )


def test_a_module_without_types_registers_nothing_and_says_so(flowpy: Flowpy, shop: Path) -> None:
    (shop / "bare.py").write_text("")

    done = flowpy("types", "register", "bare")

    error, hint = done.stderr.splitlines()
    assert (done.exit_code, "nothing is declared in bare" in error, hint.startswith("hint: mark ")) == (2, True, True)


def test_modules_have_commas_between_everywhere(flowpy: Flowpy, shop: Path) -> None:
    (shop / "more.py").write_text("from flowpy import activity\n\n\n@activity\ndef more() -> None: ...\n")

    done = flowpy("types", "register", "shop,more", "--json")

    assert {json.loads(line)["name"] for line in done.stdout.splitlines()} == {"order", "Parcel", "charge", "more"}


def test_verifying_nothing_does_not_look_like_success(flowpy: Flowpy) -> None:
    done = flowpy("verify", "shop", "--workflow-id", "no-such-order")

    assert done.stdout.splitlines()[-1] == "0 executions of domain 'test': nothing was verified"


def test_a_folder_with_what_is_no_history(flowpy: Flowpy, shop: Path) -> None:
    (shop / "stored").mkdir()
    (shop / "stored" / "half.json").write_text('{"events": [', encoding="utf-8")

    said = flowpy("verify", "shop", "stored").stdout

    assert "(unreadable)" in said
    assert "error: a history that cannot be read" in said
    assert "workflow ''" not in said


def test_an_event_that_a_history_does_not_have_is_told_once(flowpy: Flowpy) -> None:
    flowpy("run", "shop:order", "o-7", "--signal", "approval", "true", "--save", "stored.history.json")

    said = flowpy("replay", "shop", "stored.history.json", "--up-to", "999").stdout

    assert "\nstored.history.json has no event 999: its events are 1 to " in said


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["strt"], "there is no command 'strt'; did you mean 'start'?"),
        (["--nosuch"], "No such option '--nosuch'."),
        (["completion"], "Missing argument '{bash|zsh|fish}'. Choose from: bash, zsh, fish"),
        (["types", "lst"], "there is no command 'lst'; did you mean 'list'?"),
        (["server", "--port", "80x"], "'80x' is not a whole number"),
        (["server", "--hold", "long"], "'long' is not a number"),
        (["server", "--hold", "nan"], "nan is no number of seconds"),
        (["verify", "shop", "--calls-per-second", "0"], "0.0 is not in the range x>0"),
        (["server", "--port", "99999"], "99999 is not in the range 0<=x<=65535"),
        (["server", "--hold", "-1"], "-1.0 is not in the range x>=0"),
    ],
)
def test_wrong_usage_takes_two_lines(arguments: list[str], told: str) -> None:
    done = CliRunner().invoke(command, arguments, prog_name="flowpy")

    error, hint = done.stderr.splitlines()
    assert (done.exit_code, hint.startswith("hint: flowpy")) == (2, True)
    assert told in error


@pytest.mark.parametrize(
    ("arguments", "exit_code", "told", "remedy"),
    [
        (
            ["--port", "{taken}"],
            1,
            "cannot listen on 127.0.0.1:{taken}: Address already in use",
            "is another one running",
        ),
        (["--host", "192.0.2.7", "--port", "0"], 1, "cannot listen on 192.0.2.7:0: ", "is 192.0.2.7 an address of"),
        (["--db", "nowhere/swf.sqlite"], 2, "cannot open the store nowhere/swf.sqlite: ", "does its directory exist"),
        (["--db", "shop.py"], 2, "cannot open the store shop.py: file is not a database", "is it an SQLite database?"),
    ],
)
def test_a_server_that_cannot_start_says_so_as_all_commands_do(
    shop: Path, arguments: list[str], exit_code: int, told: str, remedy: str
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        taken = listener.getsockname()[1]
        given = [argument.format(taken=taken) for argument in arguments]
        done = CliRunner().invoke(command, ["server", *given], prog_name="flowpy")

    error, hint = done.stderr.splitlines()
    assert done.exit_code == exit_code
    assert error.startswith(f"error: {told.format(taken=taken)}")
    assert hint.startswith(f"hint: {remedy}")
