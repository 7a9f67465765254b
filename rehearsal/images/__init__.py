"""Container images built here from Debian and PyPI packages and from our own binaries."""
