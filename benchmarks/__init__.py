"""Speed and memory of mcquack beside its peers and beside the arithmetic limit of the machine."""
