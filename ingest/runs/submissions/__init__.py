"""Submissions: rankings that lie as files beside the lake, each with a declaration of what made it."""
