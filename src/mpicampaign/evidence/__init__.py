"""Claim and evidence of a run, and what they prove about its label."""
