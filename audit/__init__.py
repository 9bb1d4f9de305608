"""Verdicts counted, sampled and stored. No FastAPI."""
