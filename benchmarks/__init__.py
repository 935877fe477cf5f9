"""Measurements that anyone can run; each prints a table."""
