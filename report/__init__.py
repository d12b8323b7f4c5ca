"""Report: the lake as pages, charts and downloads that work from any folder, any web host and a USB stick."""

import os

# Set here because it is read when polars is imported. One arena of its allocator for all threads takes a fifth less
# memory than one each; the times are those of `lake`.
os.environ.setdefault("_RJEM_MALLOC_CONF", "narenas:1,dirty_decay_ms:10000,muzzy_decay_ms:10000")
