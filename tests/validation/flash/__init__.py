"""Flash drives described by their sheets, against measurements."""
