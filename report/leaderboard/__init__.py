"""The leaderboards: a protocol's systems with their scores, and all that is shown with them."""
