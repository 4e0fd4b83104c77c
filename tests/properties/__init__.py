"""Random workflows against the in-memory service: what must hold whatever code and service do."""
