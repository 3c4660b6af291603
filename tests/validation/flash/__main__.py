"""Write the page: `python -m tests.validation.flash`."""

from tests.validation.flash.page import main

if __name__ == "__main__":
    main()
