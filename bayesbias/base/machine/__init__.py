"""The machine and the session: cores, memory, interrupts, the terminal, and which extras are installed."""
