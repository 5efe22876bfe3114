"""Pictures of a depth forest: the upper nodes of a tree on a body, and the probes that tell parts apart."""
