"""From the records of two or more topologies to an answer: what may be compared, how much it differs, how sure."""
