"""What can be found out before `up`, and would otherwise be found out ten minutes into it."""
