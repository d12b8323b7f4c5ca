"""The unit of uncertainty: repositories, or items where the repositories are too few to decide anything."""

from __future__ import annotations

FEWEST_REPOS = 6
"""Of five repositories the least p of a two-sided sign-flip test is 0.0625: no difference could be significant."""

FEWEST_ITEMS = 30
"""Below this many items systems are ordered, but neither ranked nor judged."""

REPOSITORY, ITEM = "repository", "item"
"""What interval, test, rank and gate generalise over: with fewer than FEWEST_REPOS repositories it is the item."""

ITEM_NOTE = "for these repositories only"
"""What is shown wherever the unit is the item."""

ITEM_INTERVALS = f"95 % intervals are over items: {ITEM_NOTE}"
"""The sentence on a table whose intervals are."""

NO_INTERVAL = "no interval: a single item shows nothing of how others differ"
"""What is said of a board without any."""
