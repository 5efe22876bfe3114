"""Parts of the command ``posepipe train``."""
