"""Computations for the page on methods."""
