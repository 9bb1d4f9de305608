"""One file per language (see docs/languages.md)."""
