"""Data from outside → items, gold spans, files, chunks: all raw bytes enter through this package."""
