"""Rankings made by a program of one's own: it is asked item by item, and what it answers is imported as a run."""
