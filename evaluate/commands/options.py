"""Options that several commands have."""

from __future__ import annotations

from typing import Annotated

from lake.console import setting

ProtocolOption = Annotated[str, setting("PROTOCOL", "Comma list (default: all).")]
ItemsOption = Annotated[str, setting("ITEMS", "Only these items: ids, a file of ids, repo=…, language=….")]
SliceOption = Annotated[str, setting("SLICE", "Slice of the items, such as level=line.", "--slice")]
