"""Deployment: components that need one another, each started as soon as what it needs is there.

The promises of what a component needs are arguments of its own activity. So the graph is walked once, nothing is waited
for on the way, and all that can run side by side does.

Flow's sample: Deployment.

    flowpy run samples.deployment:deploy_stack stack '{"shop": ["database", "cache"], "cache": ["database"]}'
"""

from __future__ import annotations

import json
from graphlib import TopologicalSorter
from pathlib import Path

from flowpy import Promise, activity, all_of, workflow


@activity(start_to_close_timeout="30m")
def deploy(root: Path, component: str, needs: list[str]) -> str:
    """Write the configuration of a component; gives its address."""
    root.mkdir(parents=True, exist_ok=True)
    address = f"http://{component}.internal"
    (root / f"{component}.json").write_text(json.dumps({"address": address, "needs": needs}))
    return address


@workflow
async def deploy_stack(root: Path, stack: dict[str, list[str]]) -> list[str]:
    """Deploy all components; gives their addresses.

    Args:
        root: Where the configuration goes.
        stack: For each component, the names of those it needs.

    Raises:
        CycleError: They need each other in a circle.
    """
    deployed: dict[str, Promise[str]] = {}
    for component in TopologicalSorter(stack).static_order():
        needs = [deployed[need] for need in stack.get(component, [])]
        deployed[component] = deploy(root, component, needs)
    return await all_of(deployed.values())
