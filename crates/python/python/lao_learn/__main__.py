"""The command `lao`, which is part of the package."""

import sys

from lao_learn._core import command


def main() -> int:
    """Run the command with the arguments of this program and return its exit status."""
    return command(["lao", *sys.argv[1:]])


if __name__ == "__main__":
    sys.exit(main())
