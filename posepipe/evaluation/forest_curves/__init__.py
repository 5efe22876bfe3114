"""Part accuracy of depth forests over depth, trees, frames, candidates and probe range, measured and drawn."""
