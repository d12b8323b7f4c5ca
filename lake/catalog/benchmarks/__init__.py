"""The benchmarks: one module each, with its tasks and the protocols that score them."""
