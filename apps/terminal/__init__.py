"""What a command does on the terminal besides printing: progress bars, safe text and Ctrl-C."""
