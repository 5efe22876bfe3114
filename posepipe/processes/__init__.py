"""Other processes of this machine, and the signals by which programs are asked to end."""
