"""Type versions: runs of each have their own code, and go over where they continue as new."""

from __future__ import annotations

import pytest

from samples.type_versions import DAYS_PER_RUN, report_1, report_2


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "a.txt").write_text("123")
    (tmp_path / "folder" / "b.csv").write_text("12345")
    return tmp_path / "folder"


@pytest.fixture
def lines(tmp_path):
    """Gives the lines of the report."""
    return lambda: (tmp_path / "report").read_text().splitlines()


def test_each_version_has_its_code(swf, folder, tmp_path, lines):
    swf.run(report_1, folder, tmp_path / "report", 1)
    swf.run(report_2, folder, tmp_path / "report", 1)

    assert lines() == ["8", "8, texts 3"]


def test_a_run_goes_over_where_it_continues_as_new(swf, folder, tmp_path, lines):
    swf.declare(report_2)
    run = swf.start(report_1, folder, tmp_path / "report", DAYS_PER_RUN + 2)
    run.result()

    assert lines() == ["8"] * DAYS_PER_RUN + ["8, texts 3"] * 2
    assert [run.describe().workflow_type, swf.find(run.workflow_id).describe().workflow_type] == [
        ("report", "1.0"),
        ("report", "2.0"),
    ]
