"""From a candidate to the people in it, and from each of them to a pose: the stages that run on single candidates.

`person_inference` finds where in a candidate somebody may be, `candidate_inference` judges each of these places as one
person, in several views, `pose_inference` goes from a view to a pose, and `second_pass` from that to a better one.
"""
