"""Tests of the embedded service."""
