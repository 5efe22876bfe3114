"""Results over the network."""
