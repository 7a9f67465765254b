"""Programs the rehearsal needs: found on this machine, or built from pinned Go modules."""
