"""What lies on disk and ends up in a prompt: skills, their code, the project's instructions."""
