"""The guard."""
