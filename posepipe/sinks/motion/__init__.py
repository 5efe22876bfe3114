"""Results as files of motion: markers for biomechanics, animated skeletons."""
