"""What a script learns from ``$?``."""

DONE = 0
REFUSED = 1  # nothing was written
USAGE = 2  # typer's own
SOME_ROWS_LEFT_OUT = 3  # done, but not for every row
SOME_TASKS_FAILED = 3  # the same of a benchmark, also if no settings could be chosen
INTERRUPTED = 130  # as a shell reports SIGINT
