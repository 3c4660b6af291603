"""A disk behind a hypervisor: its description, and the processor that its commands pass."""
