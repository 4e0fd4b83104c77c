"""``python -m flowpy.local``."""

import sys

try:
    from flowpy.local.server.command import main
except ModuleNotFoundError as missing:
    # What the extra brings; anything else that is missing is a fault of ours, to be seen in full.
    if missing.name not in {"httptools", "uvicorn"}:
        raise
    sys.exit(f"flowpy.local: {missing.name} is not installed; run: pip install 'flowpy-swf[server]'")

sys.exit(main())
