"""Single poses: banks, variation, kinds."""
