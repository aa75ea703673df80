"""How each source spells its offsets."""
