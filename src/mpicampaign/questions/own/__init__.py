"""How are the own host groups beside those of others."""
