"""Joint stages, from weighted points to a pose: mean shift, votes, proposals, prior and refinement."""
