"""Flash drives: description, dies, and garbage collection."""
