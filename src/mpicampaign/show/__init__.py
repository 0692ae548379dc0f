"""What people look at: findings as sentences, tables, the report."""
