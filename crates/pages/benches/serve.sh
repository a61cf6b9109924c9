#!/usr/bin/env bash
# Predictions per second of `lao serve`, one row in a request, and how long a request takes, on the loopback
# address: 50 connections, ten seconds, by wrk (https://github.com/wg/wrk).
#
#     bash crates/pages/benches/serve.sh
set -eu
cd "$(dirname "$0")/../../.."
command -v wrk > /dev/null || { echo "SKIPPED: there is no wrk"; exit 0; }
cargo build --quiet --release --bin lao
folder=$(mktemp -d)
trap 'kill "$server" 2> /dev/null || true; rm -rf "$folder"' EXIT
server=
lao=$PWD/target/release/lao
"$lao" fit data/diabetes.csv.gz -t progression --budget 5 -o "$folder/model.json" > /dev/null 2>&1
"$lao" serve "$folder/model.json" --port 0 > "$folder/url" 2> /dev/null &
server=$!
until [ -s "$folder/url" ]; do sleep .1; done
url=$(sed 's/.*: //' "$folder/url")
cat > "$folder/post.lua" <<'LUA'
wrk.method = "POST"
wrk.body = '{"rows": [{"bmi": 30.1, "ltg": 4.9}]}'
wrk.headers["Content-Type"] = "application/json"
function done(summary, latency, requests)
  local errors = summary.errors
  local failed = errors.connect + errors.read + errors.write + errors.status + errors.timeout
  local rate = 1e6 * summary.requests / summary.duration
  local half, most = latency:percentile(50) / 1000, latency:percentile(99) / 1000
  local text = "%.0f predictions a second; half of them within %.2f ms, 99 %% within %.2f ms, %d failed"
  print(string.format(text, rate, half, most, failed))
end
LUA
wrk --threads 1 --connections 50 --duration 10s --script "$folder/post.lua" "${url}predict" | tail -1
