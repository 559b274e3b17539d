"""Operations: what Fabula can do with a collection, declared once and offered everywhere."""
