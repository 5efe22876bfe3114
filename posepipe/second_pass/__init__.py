"""Second pass: pixels are labelled anew, given the pose of the first pass, and the joints found again from them."""
