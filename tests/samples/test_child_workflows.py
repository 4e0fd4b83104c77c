"""Child workflows: each is a run of its own, beside the others, and its failure is not its parent's."""

from __future__ import annotations

import pytest

from samples.child_workflows import book, library, words
from samples.table import count

HAMLET = "to be or not to be\n## V\nthe rest is silence"
FAUST = "habe nun ach"


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "hamlet.md").write_text(HAMLET)
    (tmp_path / "faust.md").write_text(FAUST)
    return tmp_path


def test_every_book_is_counted_by_a_child(swf, folder):
    run = swf.start(library, folder)

    assert run.result() == {"faust": [3], "hamlet": [4, 5]}
    assert count(run.history(), "ChildWorkflowExecutionCompleted") == 2
    assert count(run.history(), "ActivityTaskScheduled") == 1  # the others are in the children's histories


def test_children_are_found_by_tag(swf, folder):
    swf.run(library, folder)

    (found,) = swf.client.list_closed(tag="hamlet")
    assert found.parent[0] == "library-1"


def test_a_book_that_cannot_be_read_is_left_out(swf, folder):
    (folder / "hamlet.md").write_bytes(b"\xff")

    assert swf.run(library, folder) == {"faust": [3], "hamlet": []}


def test_a_child_is_a_workflow_like_any_other(swf, folder):
    assert swf.run(book, folder / "hamlet.md") == [4, 5]


def test_children_learn_that_their_parent_is_terminated(swf, folder):
    swf.stub(words, returns=1, delay="5m")
    run = swf.start(library, folder)
    run.terminate("enough")
    swf.advance("1h")

    assert [child.close_status for child in swf.client.list_closed(workflow=book)] == ["CANCELED", "CANCELED"]
