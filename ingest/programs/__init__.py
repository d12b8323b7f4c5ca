"""External programs in any language that answer JSON lines with JSON lines: chunkers, and programs that search."""
