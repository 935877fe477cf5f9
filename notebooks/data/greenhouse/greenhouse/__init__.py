"""Watches the temperature in greenhouses."""
