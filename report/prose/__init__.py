"""The figures that the posts give in their text, each from the records of one run; docs/posts.md lists them.

A record that is disturbed, broken off or failed is left out before it comes here (`report.verdict.reading`). Of what
the records do not tell, a figure is None and never zero.
"""
