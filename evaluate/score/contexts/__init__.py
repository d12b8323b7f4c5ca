"""Contexts: sets of files, symbols, bytes and lines that a run gathers step by step, compared with an item's gold."""
