"""What runs inside a sandboxed child, once every layer is on. Standard library only, and light to import.

Each harness module has `main(job, channel_fd, peer_fd)`; returning from it is the program's normal end.
"""
