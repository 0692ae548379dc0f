"""Formats of `mpicampaign export`: a module for each, with its name, which ends in ``WRITER``."""
