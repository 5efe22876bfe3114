"""Rules by which the probes of a forest read a depth image, and the kernel for the rules of other programs."""
