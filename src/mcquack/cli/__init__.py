"""The command line: one file for each group of verbs, which parse, call and print."""
