"""Every table and figure of the paper beside ours: what the paper says, when ours agrees, and the site of both."""
