"""Fixtures of the tests of telemetry."""

from __future__ import annotations

import pytest

from .process import Process, Service


@pytest.fixture
def service():
    return Service()


@pytest.fixture
def process(service):
    """Makes worker processes, and lets go of them after the test."""
    made = []

    def make(workflows, activities, **options):
        made.append(Process(options.pop("service", service), workflows, activities, **options))
        return made[-1]

    yield make
    for each in made:
        each.close()
