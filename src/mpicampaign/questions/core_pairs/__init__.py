"""How fast are messages between each pair of ranks, as the kernel core_pairs measures them."""
