"""A virtual disk from mean responses: one server that answers in batches."""
