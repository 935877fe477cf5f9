"""An example of a package that extends agent_magics."""
