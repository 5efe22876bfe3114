"""What the trainings of small networks share, and the gradients of the facing network."""
