"""Second opinions and late flags on stored verdicts, in the background: off the path of requests."""
