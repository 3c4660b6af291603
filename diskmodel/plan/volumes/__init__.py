"""Which volumes of a cloud to provision, by what they cost."""
