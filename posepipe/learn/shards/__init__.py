"""Depth trees grown on shards: samples that many processes hold, and counts of them that add up."""
