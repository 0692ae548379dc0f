"""What a site's own commands say, as facts, and a campaign file made from them. No I/O."""
