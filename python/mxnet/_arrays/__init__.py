"""What stands below arrays and graphs: recording, classes, switches, arguments."""
