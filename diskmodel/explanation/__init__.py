"""Why a measurement differs from what an array should do: expected and measured figures, and the causes that fit."""
