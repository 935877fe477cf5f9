"""The magics: the words a person types, parsed and passed on."""
