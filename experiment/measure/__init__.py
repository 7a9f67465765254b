"""What a record is made of: requests, figures, counters, and what the client says of itself."""
