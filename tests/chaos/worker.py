"""A worker of the chaos: ``python tests/chaos/worker.py --endpoint-url … --log FILE``."""

from __future__ import annotations

import argparse
import logging

from stories import ACTIVITIES, WORKFLOWS

from flowpy import Client, Worker
from flowpy.worker import WorkerSettings


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--domain", required=True)
    parser.add_argument("--endpoint-url", required=True)
    parser.add_argument("--region", required=True)
    parser.add_argument("--log", required=True)
    parser.add_argument("--sticky", action="store_true")
    given = parser.parse_args()
    form = "%(asctime)s %(levelname)s %(threadName)s %(name)s: %(message)s"
    logging.basicConfig(filename=given.log, level=logging.INFO, format=form)
    client = Client(given.domain, region_name=given.region, endpoint_url=given.endpoint_url)
    settings = WorkerSettings(sticky=given.sticky, sticky_timeout=2, cached_runs=40, grace=5)
    worker = Worker(client, workflows=WORKFLOWS, activities=ACTIVITIES, settings=settings)
    try:
        worker.run()
    finally:
        logging.getLogger("chaos").info("counts: %s", worker.counts)


if __name__ == "__main__":
    main()
