"""Does any command run where its label says: `mpicampaign prove`."""
