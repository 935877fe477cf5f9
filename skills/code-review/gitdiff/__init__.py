"""The parts of git_diff. Everything here works on bytes, since that is what file names are."""
