"""`python -m diskmodel` is the command `diskmodel`."""

from diskmodel.cli import main

if __name__ == "__main__":
    main()
