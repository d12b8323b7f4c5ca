"""Ranking of pools of chunks by a retriever's scores."""
