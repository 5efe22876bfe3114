"""What poses, parts, bodies and tracks are measured by."""
