"""The kinds of things that an experiment makes in AWS, one service a file, each found and each deleted in one way."""
