"""Write the page: `python -m tests.validation.disks`."""

from tests.validation.disks.page import main

if __name__ == "__main__":
    main()
