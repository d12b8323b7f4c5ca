"""Figures: charts, their look, and the files to download."""
