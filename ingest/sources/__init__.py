"""Sources of raw files in one common form: the bundled sample, a local folder, the publishers."""
