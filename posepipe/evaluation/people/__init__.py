"""People found, missed and false on frames whose people are labelled by boxes, or that show nobody."""
