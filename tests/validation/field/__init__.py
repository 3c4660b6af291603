"""Published measurements and what the product says of them."""
