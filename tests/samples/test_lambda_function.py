"""Lambda: SWF calls the function, and what it says is read as a Thumbnail."""

from __future__ import annotations

import pytest

from flowpy import WorkflowFailed
from samples.lambda_function import Thumbnail, shrink, thumbnail
from samples.table import attributes

ROLE = "arn:aws:iam::123456789012:role/swf-lambda"


def test_the_function_is_called(swf):
    swf.stub(shrink, returns=Thumbnail("small/cat.png", 64, 48))
    run = swf.start(thumbnail, "pictures", "cat.png", lambda_role=ROLE)

    assert run.result() == "small/cat.png"
    assert swf.calls(shrink) == [({"bucket": "pictures", "key": "cat.png"},)]
    assert attributes(run.history()[0])["lambdaRole"] == ROLE


@pytest.mark.parametrize("how", [{"raises": ValueError("no picture")}, {"times_out": "START_TO_CLOSE"}])
def test_the_picture_itself_is_a_thumbnail_too(swf, how):
    swf.stub(shrink, **how)

    assert swf.run(thumbnail, "pictures", "cat.png", lambda_role=ROLE) == "cat.png"


def test_what_the_function_returns_is_checked(swf):
    swf.stub(shrink, by=lambda _: {"key": "cat.png"})
    with pytest.raises(WorkflowFailed, match="width"):
        swf.run(thumbnail, "pictures", "cat.png", lambda_role=ROLE)
