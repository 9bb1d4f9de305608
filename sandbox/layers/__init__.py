"""The kernel's own fences, one per file, as far as Python can reach them: ctypes, no compiler."""
