"""Programs of others, in any language, that answer lines of JSON: they cut files, or they search them."""
