"""What the formats of agents' work share: files, sessions, items and patches, and what the work took."""
