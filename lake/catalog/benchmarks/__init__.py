"""Benchmarks as every stage knows them: a module each, with its tasks and the protocols that score them."""
