"""Objects as text, HTML and drawings."""
