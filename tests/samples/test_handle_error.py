"""Errors: each type has its way, and the folder is given back whatever happens."""

from __future__ import annotations

import pytest

from flowpy import WorkflowFailed
from samples.handle_error import divide_all, unlock


@pytest.fixture
def folder(tmp_path):
    return tmp_path / "work"


def test_errors_are_known_by_their_type(swf, folder):
    assert swf.run(divide_all, folder, ["6/3", "7/3", "1/0"]) == ["2", "2 rest 1", "infinite"]


def test_the_folder_is_given_back(swf, folder):
    swf.run(divide_all, folder, ["6/3"])

    assert list(folder.iterdir()) == []


def test_other_errors_are_raised_and_the_folder_is_given_back(swf, folder):
    with pytest.raises(WorkflowFailed, match="ValueError: invalid literal"):
        swf.run(divide_all, folder, ["6/3", "two/2"])

    assert list(folder.iterdir()) == []


def test_what_was_not_taken_is_not_given_back(swf, folder):
    folder.mkdir()
    (folder / "lock").write_text("somebody else")
    with pytest.raises(WorkflowFailed, match="FileExistsError"):
        swf.run(divide_all, folder, ["6/3"])

    assert swf.calls(unlock) == []
    assert (folder / "lock").read_text() == "somebody else"
