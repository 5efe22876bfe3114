"""What `posepipe evaluate` does besides scoring datasets that are there already."""
