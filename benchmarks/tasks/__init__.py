"""Small tasks with automatic checks, for any endpoint: our product and its peers on one model."""
