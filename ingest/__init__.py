"""The outside world → items, gold spans, files, chunks: every raw byte comes in through here."""
