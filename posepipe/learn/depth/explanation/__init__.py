"""Why a pixel gets its body part: the probes on its path through a forest, in words and drawn on the person."""
