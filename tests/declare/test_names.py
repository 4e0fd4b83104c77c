from __future__ import annotations

import pytest

from flowpy.declare.names import check_id, check_name, check_signal_name, check_tag_list, check_version
from flowpy.errors import DeclarationError


@pytest.mark.parametrize(
    "name", ["charge", "Bank.charge", "Zahlung-prüfen", "t1", "t1charge", "arnold", "a" * 256, "支払"]
)
def test_names_swf_takes_are_taken(name):
    assert check_name(name, "activity name") == name


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("", "empty"),
        ("a" * 257, "at most 256"),
        ("shop:charge", "':'"),
        ("shop/charge", "'/'"),
        ("shop|charge", "'|'"),
        ("charge\n", r"'\n'"),
        ("charge\x7f", r"'\x7f'"),
        ("charge\x9f", r"'\x9f'"),
        ("charge\ud800", "position 6"),
        ("arn", "'arn'"),
        (" charge", "use 'charge'"),
        ("charge ", "use 'charge'"),
        ("t1.charge", "'t1-charge'"),
        ("s22.", "path of a task"),
        ("flowpy.charge", "keeps for itself"),
        (5, "5 is an int"),
        (None, "None is a NoneType"),
    ],
)
def test_other_names_are_refused_with_the_reason(name, says):
    with pytest.raises(DeclarationError, match="activity name: ") as caught:
        check_name(name, "activity name")
    assert says in str(caught.value)


def test_ids_follow_the_same_rules():
    assert check_id("order-7.x", "workflow_id") == "order-7.x"
    with pytest.raises(DeclarationError, match="workflow_id"):
        check_id("flowpy.again-1", "workflow_id")


def test_a_version_has_64_characters_at_most_and_is_text():
    assert check_version("1.0") == "1.0"
    assert check_version("v" * 64) == "v" * 64
    assert check_version("t1.0") == "t1.0"
    with pytest.raises(DeclarationError, match="65 characters, but SWF takes at most 64"):
        check_version("v" * 65)
    with pytest.raises(DeclarationError, match=r"1\.1 is a float; give text in quotes"):
        check_version(1.1)


def test_signals_of_other_frameworks_may_have_any_characters():
    assert check_signal_name("com.shop/Order:approved") == "com.shop/Order:approved"
    assert check_signal_name("t1.stop") == "t1.stop"
    for name in ("", "x" * 257, "flowpy.wake", None):
        with pytest.raises(DeclarationError, match="signal name"):
            check_signal_name(name)


def test_five_tags_are_taken_in_order():
    assert check_tag_list(["b", "a", "", "c", "d"]) == ("b", "a", "", "c", "d")
    assert check_tag_list(()) == ()


@pytest.mark.parametrize(
    ("tags", "says"),
    [
        (list("abcdef"), "6 tags, but SWF takes at most 5; drop 'f'"),
        ("eu", "such as ['eu']"),
        (5, "give such as [5]"),
        ([5], "give text"),
        (["x" * 257], "at most 256"),
    ],
)
def test_other_tags_are_refused(tags, says):
    with pytest.raises(DeclarationError, match="tag_list") as caught:
        check_tag_list(tags)
    assert says in str(caught.value)
