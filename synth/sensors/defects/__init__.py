"""What materials, drivers and stereo matching make of readings."""
