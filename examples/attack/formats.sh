#!/bin/sh
# One run in every form: text, JSON, a histogram, a page, CSV for a spreadsheet, Parquet for pandas and DuckDB.
#
#   examples/attack/formats.sh
set -eu
brunt attack -rate=50 -duration="${LENGTH:-10s}" -output=run.arrow "${BASE:-http://127.0.0.1:8080}/"
brunt report run.arrow
brunt report -output=run.json run.arrow
brunt report -type='hist[0,10ms,50ms,100ms,500ms]' run.arrow
brunt report -output=run.html run.arrow
brunt encode -to=csv -output=run.csv run.arrow
brunt encode -output=run.parquet run.arrow
