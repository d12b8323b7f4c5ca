"""A patch, and the head of one, for the tests of patches."""

from __future__ import annotations

CHANGE = """\
diff --git a/src/cart.py b/src/cart.py
index 1111111..2222222 100644
--- a/src/cart.py
+++ b/src/cart.py
@@ -3,7 +3,7 @@ class Cart:
 three
-four
-five
+new four
 six
+after six
 seven
 eight
 nine
"""


def head(path: str) -> str:
    """The names above a file's hunks."""
    return f"--- a/{path}\n+++ b/{path}\n"
