from __future__ import annotations

import pytest

from flowpy.errors import AlreadyExists, InvalidRequest, ServiceError, TypeDeprecated, UnknownResource

KINDS = ["Activity", "Workflow"]


def named(kind, name="t", version="1"):
    return {f"{kind.lower()}Type": {"name": name, "version": version}}


def register(swf, kind, name="t", version="1", **options):
    swf.call(f"Register{kind}Type", domain="shop", name=name, version=version, **options)


@pytest.mark.parametrize("kind", KINDS)
def test_the_life_of_a_type(swf, kind):
    label = rf"{kind}Type=\[name=t, version=1\]"
    with pytest.raises(UnknownResource, match=f"Unknown type: {label}"):
        swf.call(f"Describe{kind}Type", domain="shop", **named(kind))
    register(swf, kind, description="d", defaultTaskList={"name": "l"}, defaultTaskStartToCloseTimeout="")
    with pytest.raises(AlreadyExists, match=label):
        register(swf, kind)
    with pytest.raises(AlreadyExists, match=label):
        swf.call(f"Undeprecate{kind}Type", domain="shop", **named(kind))
    with pytest.raises(ServiceError, match="cannot be deleted in its current state"):
        swf.call(f"Delete{kind}Type", domain="shop", **named(kind))

    described = swf.call(f"Describe{kind}Type", domain="shop", **named(kind))
    assert described["configuration"] == {"defaultTaskList": {"name": "l"}}
    assert described["typeInfo"]["status"] == "REGISTERED"
    assert described["typeInfo"]["description"] == "d"

    swf.call(f"Deprecate{kind}Type", domain="shop", **named(kind))
    with pytest.raises(TypeDeprecated, match=label):
        swf.call(f"Deprecate{kind}Type", domain="shop", **named(kind))
    with pytest.raises(AlreadyExists, match=label):
        register(swf, kind)
    assert "deprecationDate" in swf.call(f"Describe{kind}Type", domain="shop", **named(kind))["typeInfo"]
    swf.call(f"Undeprecate{kind}Type", domain="shop", **named(kind))
    swf.call(f"Deprecate{kind}Type", domain="shop", **named(kind))
    swf.call(f"Delete{kind}Type", domain="shop", **named(kind))
    register(swf, kind)


@pytest.mark.parametrize("kind", KINDS)
def test_types_are_listed_by_name_and_in_pages(swf, kind):
    for name, version in (("b", "1"), ("a", "2"), ("a", "1"), ("old", "1")):
        register(swf, kind, name, version)
    swf.call(f"Deprecate{kind}Type", domain="shop", **named(kind, "old"))

    def listed(status="REGISTERED", **options):
        answer = swf.call(f"List{kind}Types", domain="shop", registrationStatus=status, **options)
        infos = [info[f"{kind.lower()}Type"] for info in answer["typeInfos"]]
        return [info["name"] + info["version"] for info in infos], answer.get("nextPageToken")

    known = "charge1" if kind == "Activity" else "order1"
    everything = ["a1", "a2", "b1", known]
    assert listed() == (everything, None)
    assert listed(reverseOrder=True) == (everything[::-1], None)
    assert listed(name="a") == (["a1", "a2"], None)
    assert listed("DEPRECATED") == (["old1"], None)
    page, token = listed(maximumPageSize=3)
    assert page == everything[:3]
    assert listed(maximumPageSize=3, nextPageToken=token) == (everything[3:], None)


def test_the_life_of_a_domain(swf):
    with pytest.raises(AlreadyExists, match=r"^shop$") as caught:
        swf.call("RegisterDomain", name="shop", workflowExecutionRetentionPeriodInDays="1")
    assert caught.value.fault == "DomainAlreadyExistsFault"
    swf.start()
    swf.call("DeprecateDomain", name="shop")

    info = swf.call("DescribeDomain", name="shop")["domainInfo"]
    assert info["status"] == "DEPRECATED"
    described = swf.call("DescribeWorkflowType", domain="shop", workflowType={"name": "order", "version": "1"})
    assert described["typeInfo"]["status"] == "DEPRECATED", "its types go with it"
    for refused in (
        lambda: swf.call("DeprecateDomain", name="shop"),
        lambda: register(swf, "Activity"),
        lambda: swf.start("other"),
    ):
        with pytest.raises(TypeDeprecated, match=r"^shop$") as caught:
            refused()
        assert caught.value.fault == "DomainDeprecatedFault"
    swf.decide()

    swf.call("UndeprecateDomain", name="shop")
    with pytest.raises(AlreadyExists):
        swf.call("UndeprecateDomain", name="shop")
    with pytest.raises(TypeDeprecated):
        swf.start("other")


def test_domains_are_listed_by_status(swf):
    for name in ("b", "a", "old"):
        swf.call("RegisterDomain", name=name, workflowExecutionRetentionPeriodInDays="NONE", description=name)
    swf.call("DeprecateDomain", name="old")

    def listed(**options):
        return [info["name"] for info in swf.call("ListDomains", **options)["domainInfos"]]

    assert listed(registrationStatus="REGISTERED") == ["a", "b", "shop"]
    assert listed(registrationStatus="DEPRECATED") == ["old"]
    assert listed(registrationStatus="REGISTERED", reverseOrder=True, maximumPageSize=1) == ["shop"]


@pytest.mark.parametrize("days", ["91", "-1", "abc", "9999"])
def test_retention_is_at_most_ninety_days(swf, days):
    with pytest.raises(InvalidRequest, match="workflowExecutionRetentionPeriodInDays"):
        swf.call("RegisterDomain", name="d", workflowExecutionRetentionPeriodInDays=days)


def test_domains_carry_tags(swf):
    arn = swf.call("DescribeDomain", name="shop")["domainInfo"]["arn"]
    swf.call("TagResource", resourceArn=arn, tags=[{"key": "a", "value": "1"}, {"key": "b"}])
    swf.call("TagResource", resourceArn=arn, tags=[{"key": "a", "value": "2"}])
    swf.call("UntagResource", resourceArn=arn, tagKeys=["b", "unknown"])
    assert swf.call("ListTagsForResource", resourceArn=arn) == {"tags": [{"key": "a", "value": "2"}]}
    with pytest.raises(ServiceError) as caught:
        swf.call("TagResource", resourceArn=arn, tags=[{"key": str(number)} for number in range(50)])
    assert caught.value.fault == "TooManyTagsFault"
    with pytest.raises(UnknownResource, match="Unknown domain: none"):
        swf.call("ListTagsForResource", resourceArn=arn.replace("shop", "none"))
