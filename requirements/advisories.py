"""Look up known vulnerabilities of the locked packages, Python's and Rust's; fail also if a database cannot be reached.

Both need a database of advisories from the network: pip-audit asks the Python Package Index, cargo-audit fetches the
RustSec database (`cargo install cargo-audit --locked`).
"""

import shutil
import subprocess
import sys
from pathlib import Path

FOLDER = Path(__file__).resolve().parent
OFFLINE = (
    *(
        "ConnectionError",
        "Max retries",
        "Failed to resolve",
        "Name or service",
        "couldn't fetch",
        "git operation failed",
    ),
    *("error sending request", "imed out", "Timeout", "failed to fetch", "ServiceError", "could not be audited"),
)


def ask(command: list[str]) -> tuple[int, str]:
    """Run a command; return its exit status and all its output."""
    done = subprocess.run(command, cwd=FOLDER.parent, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout + done.stderr


def verdict(name: str, command: list[str]) -> str:
    """Audit one language; return the outcome in one line."""
    status, output = ask(command)
    if status == 0:
        return f"{name}: no known vulnerability"
    print(output, file=sys.stderr)
    if any(sign in output for sign in OFFLINE):
        return f"{name}: NOT LOOKED UP, the advisory database could not be reached"
    return f"{name}: FOUND, see above"


def main() -> int:
    """Audit both languages and print the outcomes."""
    pip_audit = [str(Path(sys.executable).parent / "pip-audit"), "--strict", "--no-deps", "--disable-pip"]
    said = [verdict("Python", [*pip_audit, "-r", str(FOLDER / "runtime.txt")])]
    if shutil.which("cargo-audit"):
        said.append(verdict("Rust", ["cargo", "audit", "--deny", "warnings"]))
    else:
        said.append("Rust: NOT LOOKED UP, cargo-audit is not installed (cargo install cargo-audit --locked)")
    print(*said, sep="\n")
    return int(any(not line.endswith("no known vulnerability") for line in said))


if __name__ == "__main__":
    sys.exit(main())
