"""Charts of a comparison, one module each: what the records show, drawn for light and dark paper alike."""
