"""What people look at: findings as sentences, tables, charts and the report."""
