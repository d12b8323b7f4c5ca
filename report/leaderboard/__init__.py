"""The leaderboards: a protocol's systems with their numbers, and everything that is shown beside them."""
