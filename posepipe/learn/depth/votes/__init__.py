"""Votes of the leaves for joints."""
