"""What is stored: typed tables, an atomic Parquet store and the conventions every stage shares."""
