"""Arrays behind a cache on SSDs: bcache, dm-cache, dm-writecache, Open CAS."""
