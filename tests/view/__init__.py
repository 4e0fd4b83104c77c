"""The timeline, in every form."""
