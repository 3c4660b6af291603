"""What makes modules load soon: a short command waits for that longer than for its answer."""

from diskmodel.loading.frozen import dataclass as dataclass
