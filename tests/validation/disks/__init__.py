"""Hard disks over a short span, in deep queues and behind a write cache, against measurements."""
