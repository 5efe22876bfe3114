"""What follows from joints alone: angles and a skeleton with constant bones."""
