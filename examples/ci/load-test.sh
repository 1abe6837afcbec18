#!/bin/sh
# The load test of a pull request: a smoke test against gates and the script's thresholds, then the change against the main branch.
# Exit codes: 99 a threshold is crossed, 7 a gate is crossed or the change is worse, 12 too few runs to decide (brunt's docs/reference/exit-codes.md).
set -eu
main=${MAIN_URL:?the address of the main branch, such as http://127.0.0.1:8081/}
change=${CHANGE_URL:?the address of the change, such as http://127.0.0.1:8082/}
runs=${RUNS:-5}
length=${LENGTH:-10s}

mkdir -p results/main results/change
code=0
# For the build server: JUnit, with a test case for each gate, threshold and check; for people: the page.
brunt run -q -u 5 -d "$length" -e BASE="${change%/}" -o results/smoke.arrow -fail-on='p99>2s, errors>0.1%, checks<99%' \
  -report results/smoke.xml -report results/smoke.html "$(dirname "$0")/../scripts/pages.js" || code=$?
# For GitLab, which compares them with the main branch's.
brunt report -type=metrics -output=results/metrics.txt results/smoke.arrow
brunt report -type=load-performance -output=results/load-performance.json results/smoke.arrow
[ "$code" -eq 0 ] || exit "$code"

# Taking turns: what drifts meanwhile drifts for both. In GitHub's job summary stands the comparison alone.
for run in $(seq "$runs"); do
  GITHUB_STEP_SUMMARY= brunt bench -c 8 -d "$length" -output="results/main/$run.arrow" "$main"
  GITHUB_STEP_SUMMARY= brunt bench -c 8 -d "$length" -output="results/change/$run.arrow" "$change"
done
GITHUB_STEP_SUMMARY= brunt compare -output=results/compare.html results/main results/change
# The comment of the pull request, and a test case for each limit.
GITHUB_STEP_SUMMARY= brunt compare -output=results/comment.md results/main results/change
GITHUB_STEP_SUMMARY= GITHUB_ACTIONS= brunt compare -fail-on='p99>+20%' -fail-on='errors>+0.1%' \
  -output=results/compare.xml results/main results/change 2> /dev/null || true
brunt compare -fail-on='p99>+20%' -fail-on='errors>+0.1%' results/main results/change
