"""Facts from git for this skill's tools. Names are bytes here, since that is what git gives."""
