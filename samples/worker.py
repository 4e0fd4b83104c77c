"""A worker that runs orders: ``python samples/worker.py --endpoint-url http://127.0.0.1:8042``.

It works until it is told to stop (SIGTERM, Ctrl-C). Several may run at once, on any number of machines; with ``--only``
one decides and another does the work.
"""

from __future__ import annotations

import argparse
import logging

from flowpy import Client, Worker
from flowpy.worker import WorkerSettings
from order import charge, order, pack, pack_and_ship, release, reserve

# One poller of each kind does for a shop this small, and keeps what happens easy to follow.
SETTINGS = WorkerSettings(threads=1, activity_pollers=1)


def main() -> None:
    parser = argparse.ArgumentParser(description="Runs the order sample.")
    parser.add_argument("--domain", default="shop", help="SWF domain, default shop")
    parser.add_argument("--endpoint-url", help="address of the service, default the real SWF")
    parser.add_argument("--region", default="us-east-1", help="AWS region, default us-east-1")
    parser.add_argument("--only", choices=["workflows", "activities"], help="default both")
    given = parser.parse_args()
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(name)s: %(message)s")
    client = Client(given.domain, region_name=given.region, endpoint_url=given.endpoint_url)
    Worker(
        client,
        workflows=[order, pack_and_ship] if given.only != "activities" else [],
        activities=[reserve, release, charge, pack] if given.only != "workflows" else [],
        settings=SETTINGS,
    ).run()


if __name__ == "__main__":
    main()
