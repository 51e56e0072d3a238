#!/usr/bin/env bash
# Compares whole bakes with the way most people bake today: Blender evaluates each frame, a script reads the vertices.
#
#   benches/peer.sh MODEL.glb VENV [SCRIPT]
#
# - VENV is a Python environment with Blender as a module:  python3.11 -m venv VENV && VENV/bin/pip install bpy==5.0.1 numpy
# - SCRIPT is the Blender side, ../shared/tools/peer_blender.py (or in VATBAKE_SHARED) by default. It writes raw floats, no textures.
# - ROUNDS=3 (from the environment) runs of each but the naive one, in turns; the fastest of each counts. The naive one runs once.
#
# This project's time is that of the whole process: start, reading, both passes, PNG encoding, the files on disk. Blender's is
# the time of its frame loop alone, as the script prints it; its start and import are left out. So the ratios are the least
# that can be said. Ratios of different runs of this script should not be mixed: the machine is not the same every day.
set -euo pipefail

if (($# < 2)); then
  sed -n '2,/^set /{/^set /d;s/^# \{0,1\}//;p}' "$0" >&2
  exit 2
fi
model=$(realpath "$1")
python=$(realpath -s "$2")/bin/python
repository=$(realpath "$(dirname "${BASH_SOURCE[0]}")/..")
script=${3:-${VATBAKE_SHARED:-$repository/../shared}/tools/peer_blender.py}
rounds=${ROUNDS:-3}
for needed in "$model" "$python" "$script"; do
  [[ -e $needed ]] || { printf 'peer.sh: there is no %s\n' "$needed" >&2; exit 1; }
done

cargo build --release --locked --manifest-path "$repository/Cargo.toml"
vatbake=${CARGO_TARGET_DIR:-$repository/target}/release/vatbake
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
export XDG_RUNTIME_DIR=$scratch

# Prints wall-clock seconds and peak resident MiB of a command.
measure() {
  "$python" - "$@" <<'PY'
import os, sys, time
start = time.perf_counter()
child = os.spawnv(os.P_NOWAIT, sys.argv[1], sys.argv[1:])
_, status, usage = os.wait4(child, 0)
if status: sys.exit(f"peer.sh: {' '.join(sys.argv[1:])} failed")
print(f"{time.perf_counter() - start:.3f} {usage.ru_maxrss / 1024:.0f}")
PY
}
ours() { measure "$vatbake" bake "$model" -q -o "$scratch/$1" --device "$1"; }
# Prints the seconds of Blender's frame loop.
theirs() {
  local line
  line=$("$python" "$script" "$model" "$scratch/$1.bin" --way "$1" 2>/dev/null | tail -n 1)
  rm -f "$scratch/$1.bin"
  "$python" -c 'import json, sys; print(json.loads(sys.argv[1])["bake_s"])' "$line"
}

devices=(cpu)
if "$vatbake" bake "$model" -q -n --device software 2>/dev/null; then devices+=(software); fi
for ((round = 1; round <= rounds; round++)); do
  for device in "${devices[@]}"; do ours "$device" >>"$scratch/$device.txt"; done
  theirs tuned >>"$scratch/tuned.txt"
done
theirs naive >"$scratch/naive.txt"

best() { sort -n "$scratch/$1.txt" | head -n 1 | cut -d ' ' -f 1; }
peak() { cut -d ' ' -f 2 "$scratch/$1.txt" | sort -n | tail -n 1; }
tuned=$(best tuned) naive=$(best naive)
printf '\n%-26s %10s %12s %12s %12s\n' 'what' 'seconds' 'times tuned' 'times naive' 'peak MiB'
for device in "${devices[@]}"; do
  awk -v n="vatbake --device $device" -v s="$(best "$device")" -v t="$tuned" -v v="$naive" -v m="$(peak "$device")" \
    'BEGIN { printf "%-26s %10.2f %12.1f %12.1f %12d\n", n, s, t / s, v / s, m }'
done
printf '%-26s %10.2f\n' 'Blender, tuned script' "$tuned" 'Blender, naive script' "$naive"
