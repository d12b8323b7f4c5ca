"""What the pages of single items are made of: spans, candidates, texts, and how they are cut into files."""
