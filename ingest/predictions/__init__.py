"""Rankings and agent trajectories made elsewhere, read in: one importer per format."""
