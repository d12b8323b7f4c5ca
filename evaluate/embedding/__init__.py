"""Texts to vectors and pairs to scores by models at hand, each worked out once and kept in the lake."""
