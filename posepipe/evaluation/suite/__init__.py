"""The suite: frozen test sets, their figures, tables and one picture."""
