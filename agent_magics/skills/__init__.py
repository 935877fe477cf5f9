"""`python -m agent_magics.skills check PATH`: checks skill folders in a shell or in CI."""
