"""Options that several commands share, and the parser that reads them."""
