"""The report as one HTML file that needs nothing else, and as a directory of files."""
