"""The doctor: facts from the commands of a site, probe jobs, and a campaign file made from them."""
