"""Pictures: what is drawn, in which look, and as which files it is downloaded."""
