"""The overlap circuit in the gates of a device, for other vendors, and as textbooks draw it."""
