"""Parts of the command ``posepipe info``: pictures of models."""
