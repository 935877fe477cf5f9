"""The parts of report_findings: what a model wrote, and whether the places in it exist."""
