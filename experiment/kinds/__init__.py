"""The kinds of tests a plan may have, one module for those that belong together; data only, no client."""
