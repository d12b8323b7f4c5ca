"""Raw bytes: of the bundled sample, a local folder, the publishers. One shape for all of them."""
