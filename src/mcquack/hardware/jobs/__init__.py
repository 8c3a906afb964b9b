"""Jobs that survive the process that sent them."""
