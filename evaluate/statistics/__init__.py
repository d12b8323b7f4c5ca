"""Statistics: averages, confidence intervals, comparisons and ranks of systems, slice by slice."""
