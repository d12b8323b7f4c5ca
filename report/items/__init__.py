"""Data for the pages of single items: spans, candidates and texts, split into files."""
