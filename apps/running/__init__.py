"""Parts of the command ``posepipe run``."""
