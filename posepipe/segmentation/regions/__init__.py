"""Regions: parts of a candidate that are found apart, and judged by themselves."""
