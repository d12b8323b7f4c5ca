"""What a system did: its numbers by slice, how it searches, and some of its items."""
