"""The pages, one publisher per module; a new page is a new file here and a template."""
