"""Scoring of rankings, completions and contexts under the rules of a protocol."""
