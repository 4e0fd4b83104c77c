"""Synthetic histories with the decisions they must lead to."""
