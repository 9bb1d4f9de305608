"""Response and ground truth in, verdict out. No HTTP, no database."""
