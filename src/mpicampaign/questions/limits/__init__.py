"""Are the limits met that a file states: `mpicampaign judge`."""
