"""What a command does on the terminal besides printing: progress bars and Ctrl-C."""
