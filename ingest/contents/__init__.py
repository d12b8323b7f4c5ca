"""A file's content once, its chunks, its definitions."""
