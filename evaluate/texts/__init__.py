"""Processing of the texts of queries and files: tokens and query forms."""
