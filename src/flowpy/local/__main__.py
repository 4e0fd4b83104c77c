"""``python -m flowpy.local``."""

import sys

from flowpy.local.server.command import main

sys.exit(main())
