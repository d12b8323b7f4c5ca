"""Vectors of texts and scores of pairs by local models, each computed once and kept in the lake."""
