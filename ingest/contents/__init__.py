"""File contents: each stored once, with its chunks and its definitions."""
