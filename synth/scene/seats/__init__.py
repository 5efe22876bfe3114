"""What people sit, lie and lean on, and walk with."""
