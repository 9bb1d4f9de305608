"""Symbolic equivalence of mathematical answers. Start reading at `judge`."""
