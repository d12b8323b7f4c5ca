"""All runs of a task: ranked and scored part by part, aggregated, analysed and compared."""
