"""Mine tasks from repositories; the bundled sample consists of such tasks."""
