"""Add the locked Rust packages to a CycloneDX list of the Python ones: `python requirements/sbom.py dist/sbom.json`."""

import json
import sys
from pathlib import Path

from rust import crates

path = Path(sys.argv[1])
document = json.loads(path.read_text())
components = [
    {
        "type": "library",
        "bom-ref": crate.purl,
        "name": crate.name,
        "version": crate.version,
        "purl": crate.purl,
        "licenses": [{"expression": crate.licence}],
        "hashes": [{"alg": "SHA-256", "content": crate.checksum}],
    }
    for crate in crates()
]
document["components"] = [c for c in document.get("components", []) if not c.get("purl", "").startswith("pkg:cargo/")]
n_python = len(document["components"])
document["components"] += components
own = document.get("metadata", {}).get("component", {}).get("bom-ref")
needs = document.setdefault("dependencies", [])
for entry in needs:
    if entry["ref"] == own:
        entry["dependsOn"] = sorted({*entry.get("dependsOn", []), *(c["bom-ref"] for c in components)})
needs += [{"ref": c["bom-ref"]} for c in components if all(entry["ref"] != c["bom-ref"] for entry in needs)]
path.write_text(json.dumps(document, indent=2) + "\n")
print(f"{path}: {n_python} Python packages, {len(components)} Rust packages")
