"""Facts from the commands of a site, and a campaign file made from them. No I/O."""
