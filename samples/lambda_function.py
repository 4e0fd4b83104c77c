"""Lambda: SWF itself calls an AWS Lambda function, so no activity worker is needed for it.

The run needs a role that allows SWF to call it, ``lambda_role``; a start or a registered type says which.

Flow's sample: HelloLambda.

    flowpy start --domain pictures --lambda-role ROLE samples.lambda_function:thumbnail holidays cat.png
"""

from __future__ import annotations

from dataclasses import dataclass

from flowpy import LambdaError, lambda_function, workflow


@dataclass(frozen=True)
class Thumbnail:
    """What the function returns, as JSON."""

    key: str
    width: int
    height: int


shrink = lambda_function("shrink-picture", start_to_close_timeout="1m", result_type=Thumbnail)


@workflow
async def thumbnail(bucket: str, key: str) -> str:
    """Have a thumbnail made; gives its key, or that of the picture itself if that fails."""
    try:
        made = await shrink({"bucket": bucket, "key": key})
    except LambdaError:
        return key
    return made.key
