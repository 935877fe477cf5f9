"""The cells of notebooks: the one that is open, and others on disk."""
