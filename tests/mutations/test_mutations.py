"""The kit finds every harmful change of the samples, says which kind it is, and is silent about the harmless ones."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from flowpy.testing.hash_seeds import HashSeeds

from .changes import Change
from .harmful import HARMFUL
from .harmless import HARMLESS
from .kit import ROOT, Kit, changed, recorded
from .page import PAGE, written
from .samples import SAMPLES, Sample

pytestmark = pytest.mark.filterwarnings("ignore:coroutine .* was never awaited:RuntimeWarning")

Histories = tuple[dict[str, Any], ...]


@pytest.fixture(scope="module")
def hash_seeds() -> Iterator[HashSeeds]:
    seeds = HashSeeds((1, 2), ROOT)
    yield seeds
    seeds.close()


@pytest.fixture(scope="module")
def kit(hash_seeds: HashSeeds, tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Kit]:
    """Gives a kit with the histories of a sample as it stands, and of what it was before its patch."""
    folder = tmp_path_factory.mktemp("recorded")
    now = {s: recorded(s, (), folder / f"now_{n}.py") for n, s in enumerate(SAMPLES)}
    before = {s: recorded(s, s.before, folder / f"before_{n}.py") for n, s in enumerate(SAMPLES) if s.before}

    def of(sample: Sample, *, since_the_patch: bool = False) -> Kit:
        return Kit(sample, now[sample] + (() if since_the_patch else before.get(sample, ())), hash_seeds)

    return of


@pytest.mark.parametrize("change", [*HARMFUL, *HARMLESS], ids=lambda change: change.what)
def test_what_the_kit_says_of(change: Change, kit: Callable[..., Kit], tmp_path, request):
    text = changed(change.sample.text, change.edits)
    # Other processes know modules by their names.
    path = tmp_path / f"change_{[*HARMFUL, *HARMLESS].index(change)}.py"

    seen = kit(change.sample, since_the_patch=change.since_the_patch).look_at(text, path)

    assert seen == change.seen


@pytest.mark.parametrize("sample", SAMPLES, ids=lambda sample: "-".join(sample.scenarios))
def test_nothing_is_said_of_what_is_not_changed(sample: Sample, kit: Callable[..., Kit], tmp_path):
    seen = kit(sample).look_at(sample.text, tmp_path / f"unchanged_{SAMPLES.index(sample)}.py")

    assert not seen.is_flagged
    assert seen.replay == ""


def test_each_harmful_change_is_flagged():
    assert [change.what for change in HARMFUL if not change.seen.is_flagged] == []


def test_no_harmless_change_is_flagged():
    assert [change.what for change in HARMLESS if change.seen.is_flagged] == []


def test_no_change_stands_twice():
    assert len({change.edits for change in (*HARMFUL, *HARMLESS) if not change.since_the_patch}) >= 100
    assert len({change.what for change in (*HARMFUL, *HARMLESS)}) == len(HARMFUL) + len(HARMLESS)


def test_the_page_shows_the_table():
    text = PAGE.read_text(encoding="utf-8")

    assert written(text) == text, "the table has changed: python -m tests.mutations.page writes it"
