"""Labelled frames of other sources: packs, ITOP and the joints of reference trackers."""
