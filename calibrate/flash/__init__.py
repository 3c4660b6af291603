"""A flash drive from mean responses: parallel dies, and the choice between them and a virtual disk."""
