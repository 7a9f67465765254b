"""Campaigns: topologies of one stack in turn on the same nodes, until an answer is clear or the budget near."""
