"""What notebooks and scripts use: `mpicampaign.load`."""
