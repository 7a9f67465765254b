"""What an engine pod takes of memory, against its limit, its node and the engine's own guard."""
