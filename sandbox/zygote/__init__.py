"""Warm interpreters: a master forks one zygote per slot, a zygote forks the children of one run at a time."""
