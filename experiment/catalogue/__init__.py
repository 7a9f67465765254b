"""What is known beforehand of machines, prices, models, add-ons and engines: dated data with its sources."""
