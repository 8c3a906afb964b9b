"""What a script learns from ``$?``."""

DONE = 0
REFUSED = 1  # nothing was written
USAGE = 2  # typer's own
SOME_ROWS_LEFT_OUT = 3  # done, but not for every row
INTERRUPTED = 130  # as a shell reports SIGINT
