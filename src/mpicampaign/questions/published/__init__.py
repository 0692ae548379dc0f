"""How are own values beside published ones."""
