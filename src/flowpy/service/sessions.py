"""boto3 sessions for people at a shell: profiles, and services on this machine that need no AWS account."""

from __future__ import annotations

import os
from ipaddress import ip_address
from typing import Any, Final
from urllib.parse import urlsplit

from flowpy.service.faults import from_botocore

__all__ = ["boto_session", "is_local"]

_ENDPOINTS: Final = ("AWS_ENDPOINT_URL_SWF", "AWS_ENDPOINT_URL")
_REGION: Final = "AWS_REGION"
"""What AWS's own command line and other SDKs read before ``AWS_DEFAULT_REGION``; boto3 reads the latter only."""
_LOCAL_REGION: Final = "us-east-1"
_LOCAL_KEY: Final = "local"
_BEYOND_THIS_MACHINE: Final = ("iam-role", "container-role")
"""What boto3 asks for credentials over the network, which takes seconds where nothing answers."""


def is_local(endpoint_url: str | None = None) -> bool:
    """Whether the service is on this machine, as the embedded one is.

    Args:
        endpoint_url: Its address; default that of the environment (``AWS_ENDPOINT_URL_SWF``, ``AWS_ENDPOINT_URL``).
    """
    url = endpoint_url or next(filter(None, map(os.environ.get, _ENDPOINTS)), "")
    host = urlsplit(url).hostname or ""
    try:
        return host == "localhost" or ip_address(host).is_loopback
    except ValueError:
        return False


def boto_session(profile: str | None = None, endpoint_url: str | None = None) -> Any:
    """Make a ``boto3.Session`` for ``BotoService(session=…)``.

    Credentials and region are boto3's, but ``AWS_REGION`` goes before its region. A service on this machine checks
    neither: for one, credentials are made up and the region is us-east-1 where there are none.

    Args:
        profile: Profile of the AWS configuration; default boto3's own choice (``AWS_PROFILE``).
        endpoint_url: Address of the service, as given to ``BotoService``.

    Raises:
        AccessDenied: There is no such profile.
    """
    import boto3
    import botocore.session
    from botocore.exceptions import BotoCoreError

    core = botocore.session.Session(profile=profile)
    try:
        if not is_local(endpoint_url):
            return boto3.Session(botocore_session=core, region_name=os.environ.get(_REGION))
        resolver = core.get_component("credential_provider")
        for provider in _BEYOND_THIS_MACHINE:
            resolver.remove(provider)
        region = os.environ.get(_REGION) or core.get_config_variable("region") or _LOCAL_REGION
        if core.get_credentials() is None:
            core.set_credentials(_LOCAL_KEY, _LOCAL_KEY)
        return boto3.Session(botocore_session=core, region_name=region)
    except BotoCoreError as error:
        raise (from_botocore(error, "connecting") or error) from error
