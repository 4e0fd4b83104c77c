"""The kernel's reports, as users read them."""
