"""The embedded SWF over HTTP; needs the extra ``server``."""

from flowpy.local.server.application import DEFAULT_HOLD, Application, Site
from flowpy.local.server.regions import Regions
from flowpy.local.server.server import Server

__all__ = ["DEFAULT_HOLD", "Application", "Regions", "Server", "Site"]
