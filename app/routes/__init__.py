"""One file per group of paths; no scoring here."""
