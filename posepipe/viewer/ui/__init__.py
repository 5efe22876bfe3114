"""The page: panel, controls, server."""
