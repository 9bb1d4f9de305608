"""The HTTP edge and the command line; the only package that imports FastAPI."""
