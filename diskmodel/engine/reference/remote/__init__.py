"""Drives that are served elsewhere: virtual disks and volumes of clouds."""
