"""Cases worked out from the laws to break what landed."""
