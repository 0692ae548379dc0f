"""What people see of a comparison: figures and the report."""
