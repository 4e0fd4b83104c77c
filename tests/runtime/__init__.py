"""The runtime from inside: what code sees on a run's own event loop."""
