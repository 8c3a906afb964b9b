"""Jobs that outlive the process that sent them: what runs them, the file that keeps them, and how they are followed."""
