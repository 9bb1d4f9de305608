"""Runs a program under limits. Has never heard of rewards or HTTP; standard library only."""
