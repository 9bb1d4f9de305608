"""The process between the service and the programs: slots, run folders, pipes, deadlines, measurements."""
