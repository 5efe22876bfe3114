"""From a candidate to the people in it, and from each of them to a pose: the stages that run on single candidates."""
