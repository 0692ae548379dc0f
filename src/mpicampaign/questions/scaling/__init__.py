"""How does time grow with ranks or nodes: strong and weak scaling."""
