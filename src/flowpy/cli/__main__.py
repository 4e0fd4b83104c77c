"""``python -m flowpy.cli``: the ``flowpy`` command."""

from flowpy.cli import main

main()
