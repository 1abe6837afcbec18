#!/bin/sh
# Shapes of a load: a ramp, steps, random arrivals, and waves; one picture shows all of them.
#
#   examples/attack/shapes.sh
set -eu
url="${BASE:-http://127.0.0.1:8080}/"
length="${LENGTH:-30s}"
brunt attack -shape=linear:10..100 -duration="$length" -output=ramp.arrow "$url"
brunt attack -shape="steps:20x$length,60x$length" -output=steps.arrow "$url"
brunt attack -rate=50 -shape=poisson -duration="$length" -output=random.arrow "$url"
brunt attack -shape="sine:50,30,$length,trough" -duration="$length" -output=waves.arrow "$url"
brunt plot -output=shapes.html ramp=ramp.arrow steps=steps.arrow random=random.arrow waves=waves.arrow
