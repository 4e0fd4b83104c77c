"""The ``flowpy`` command."""
