"""Trees as text and drawings."""
