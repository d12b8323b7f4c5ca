"""Data that all stages share: the tasks, and the protocols that score their runs."""
