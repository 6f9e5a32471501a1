"""Files that are written as a whole, and what image files hold."""
