# bash completion of brunt; made by `brunt completions bash`
_brunt() {
  local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} command= word flags=
  for word in "${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    case $word in -*|vegeta) ;; *) command=$word; break;; esac
  done
  case $command in
    demo) flags="-q -cpus -memory-limit -redact -version";;
    attack) flags="-targets -format -lazy -body -chunked -header -cookies -name -rate -duration -shape -workers -max-workers -tick -seed -timeout -redirects -keepalive -connections -max-connections -conn-max-age -conn-max-requests -laddr -unix-socket -connect-to -resolve -resolvers -dns-ttl -proxy-header -http2 -h2c -m -insecure -cert -key -root-certs -session-tickets -output -to -max-body -keep-headers -prometheus-addr -fail-on -fail-on-invalid -abort-when -json -progress -q -web -tui -io -answer-clock -pin -rt -fleet -agents -agent-labels -fleet-on-loss -fleet-wait -report -save -store -label -watch -watch-pid -watch-name -watch-port -watch-cgroup -watch-scrape -watch-log -watch-log-pattern -watch-every -cpus -memory-limit -redact -version";;
    bench) flags="-c -n -d -pipeline -think -warmup -k -no-keepalive -per-connection -X -targets -format -body -chunked -header -cookies -name -seed -timeout -redirects -conn-max-age -conn-max-requests -laddr -unix-socket -connect-to -resolve -resolvers -dns-ttl -proxy-header -http2 -h2c -m -insecure -cert -key -root-certs -session-tickets -output -to -max-body -keep-headers -prometheus-addr -fail-on -fail-on-invalid -abort-when -json -progress -q -web -tui -io -answer-clock -pin -rt -fleet -agents -agent-labels -fleet-on-loss -fleet-wait -report -save -store -label -watch -watch-pid -watch-name -watch-port -watch-cgroup -watch-scrape -watch-log -watch-log-pattern -watch-every -cpus -memory-limit -redact -version";;
    grpc) flags="-call -data -data-binary -metadata -proto -import-path -protoset -reflect-metadata -template -rate -shape -workers -duration -n -think -warmup -timeout -name -seed -connections -m -plaintext -authority -insecure -root-certs -cert -key -session-tickets -conn-max-age -conn-max-requests -laddr -unix-socket -connect-to -resolve -resolvers -dns-ttl -proxy-header -output -to -max-body -keep-headers -prometheus-addr -fail-on -fail-on-invalid -abort-when -json -progress -q -web -tui -io -answer-clock -pin -rt -fleet -agents -agent-labels -fleet-on-loss -fleet-wait -report -save -store -label -watch -watch-pid -watch-name -watch-port -watch-cgroup -watch-scrape -watch-log -watch-log-pattern -watch-every -cpus -memory-limit -redact -version";;
    seek) flags="-objective -by -arrivals -from -to -budget -step -warmup -cooldown -precision -max-steps -e -scenario -state -plot -X -targets -format -body -chunked -header -cookies -seed -timeout -redirects -keepalive -laddr -unix-socket -connect-to -resolve -resolvers -dns-ttl -proxy-header -conn-max-age -conn-max-requests -http2 -h2c -m -insecure -cert -key -root-certs -session-tickets -json -progress -web -tui -prometheus-addr -fail-on-invalid -io -answer-clock -pin -rt -report -save -store -label -fleet -agents -agent-labels -fleet-on-loss -fleet-wait -watch -watch-pid -watch-name -watch-port -watch-cgroup -watch-scrape -watch-log -watch-log-pattern -watch-every -cpus -memory-limit -redact -version";;
    cable) flags="-channel -params -perform -codec -users -ramp -duration -rate -speakers -cookies -timeout -jitter -cuts -give-up -no-backoff -fail-on-loss -header -name -seed -laddr -unix-socket -connect-to -resolve -resolvers -dns-ttl -proxy-header -insecure -cert -key -root-certs -session-tickets -output -to -prometheus-addr -fail-on -fail-on-invalid -abort-when -json -progress -q -web -tui -io -pin -rt -report -save -store -label -watch -watch-pid -watch-name -watch-port -watch-cgroup -watch-scrape -watch-log -watch-log-pattern -watch-every -fleet -agents -agent-labels -fleet-on-loss -fleet-wait -cpus -memory-limit -redact -version";;
    run) flags="-u -d -i -s -p -execution-segment -execution-segment-sequence -e -include-system-env-vars -c -t -compatibility-mode -allow-read -offline -allow-write -no-setup -no-teardown -max-redirects -batch -batch-per-host -rps -user-agent -http-debug -insecure-skip-tls-verify -no-connection-reuse -no-vu-connection-reuse -min-iteration-duration -w -blacklist-ip -block-hostnames -discard-response-bodies -local-ips -dns -tag -system-tags -summary-trend-stats -summary-time-unit -summary-mode -no-summary -summary-export -new-machine-readable-summary -no-thresholds -no-backoff -io -compat -o -J -skip-scripts -traces-output -l -a -console-output -log-format -log-output -secret-source -fail-on -fail-on-invalid -prometheus-addr -tui -web -q -v -no-color -no-usage-report -profiling-enabled -report -save -store -label -watch -watch-pid -watch-name -watch-port -watch-cgroup -watch-scrape -watch-log -watch-log-pattern -watch-every -fleet -agents -agent-labels -fleet-on-loss -fleet-wait -cpus -memory-limit -redact -version";;
    inspect) flags="-execution-requirements -e -include-system-env-vars -allow-read -offline -t -compatibility-mode -c -v -q -cpus -memory-limit -redact -version";;
    archive) flags="-O -exclude-env-vars -e -include-system-env-vars -allow-read -offline -c -u -d -i -s -v -q -cpus -memory-limit -redact -version";;
    lint) flags="-format -skip -e -include-system-env-vars -allow-read -offline -t -c -v -cpus -memory-limit -redact -version";;
    vendor) flags="-update -e -include-system-env-vars -allow-read -t -v -cpus -memory-limit -redact -version";;
    new) flags="-template -f -cpus -memory-limit -redact -version";;
    report) flags="-type -buckets -every -output -by -where -json -fail-on -fail-on-invalid -server-offset -cpus -memory-limit -redact -version";;
    plot) flags="-title -threshold -output -type -percentiles -histogram -overlay -bars -value -axis -json -server -server-offset -where -by -cpus -memory-limit -redact -version";;
    compare) flags="-baseline -save-baseline -store -where -fail-on -fail-unclear -min-effect -min-errors -seed -type -output -json -title -cpus -memory-limit -redact -version";;
    runs) flags="-store -json -name -command -label -search -n -note -output -keep -older-than -dry-run -cpus -memory-limit -redact -version";;
    ui) flags="-store -listen -cpus -memory-limit -redact -version";;
    study) flags="-quick -only -out -fresh -force -until-sure -max-runs -max-time -web -fail-on-invalid -json -save -store -label -cpus -memory-limit -redact -version";;
    fit) flags="-by -at -point -model -plot -output -json -seed -cpus -memory-limit -redact -version";;
    encode) flags="-to -output -cpus -memory-limit -redact -version";;
    dump) flags="-dumper -inputs -output -cpus -memory-limit -redact -version";;
    serve) flags="-listen -workers -service -queue -error-rate -body -cable -cable-ping -cable-delay -cable-loss -cable-duplicate -cable-reorder -cable-reject -cable-no-confirm -cable-disconnect-after -tls -tls-cert -tls-key -seed -cpus -memory-limit -redact -version";;
    watch) flags="-pid -name -port -cgroup -scrape -log -log-pattern -every -duration -output -to -loadavg -requests -host -date -json -q -cpus -memory-limit -redact -version";;
    fleet) flags="-dir -listen -advertise -token-lasts -token-machines -new -nats -creds -n -name -image -agents -cores -memory -labels -node-labels -pull-secret -nats-image -deadline -nats-memory -nats-cores -tolerations -annotations -run-as -apply -keep -wait -port -context -chart -output -to -fail-on -fail-on-invalid -json -progress -q -web -cpus -memory-limit -redact -version";;
    agent) flags="-join -name -labels -dir -nats -creds -cpus -memory-limit -redact -version";;
    import) flags="-from -to -output -env -env-name -only-tags -only -base-url -top -allow-read -cpus -memory-limit -redact -version";;
    record) flags="-output -browser -host -all-hosts -with-secrets -listen -max-body -insecure -root-certs -authority -json -cpus -memory-limit -redact -version";;
    jitter) flags="-rate -duration -json -cpus -memory-limit -redact -version";;
    completions) flags="-cpus -memory-limit -redact -version";;
    man) flags="-cpus -memory-limit -redact -version";;
    help) flags="-cpus -memory-limit -redact -version";;
  esac
  case $command:$prev in
    attack:-format|attack:--format) COMPREPLY=($(compgen -W "http json" -- "$cur")); return;;
    attack:-to|attack:--to) COMPREPLY=($(compgen -W "arrow parquet csv json gob" -- "$cur")); return;;
    attack:-io|attack:--io) COMPREPLY=($(compgen -W "auto poll uring" -- "$cur")); return;;
    attack:-answer-clock|attack:--answer-clock) COMPREPLY=($(compgen -W "auto worker" -- "$cur")); return;;
    attack:-fleet-on-loss|attack:--fleet-on-loss) COMPREPLY=($(compgen -W "fail go-on" -- "$cur")); return;;
    bench:-format|bench:--format) COMPREPLY=($(compgen -W "http json" -- "$cur")); return;;
    bench:-to|bench:--to) COMPREPLY=($(compgen -W "arrow parquet csv json gob" -- "$cur")); return;;
    bench:-io|bench:--io) COMPREPLY=($(compgen -W "auto poll uring" -- "$cur")); return;;
    bench:-answer-clock|bench:--answer-clock) COMPREPLY=($(compgen -W "auto worker" -- "$cur")); return;;
    bench:-fleet-on-loss|bench:--fleet-on-loss) COMPREPLY=($(compgen -W "fail go-on" -- "$cur")); return;;
    grpc:-to|grpc:--to) COMPREPLY=($(compgen -W "arrow parquet csv json gob" -- "$cur")); return;;
    grpc:-io|grpc:--io) COMPREPLY=($(compgen -W "auto poll uring" -- "$cur")); return;;
    grpc:-answer-clock|grpc:--answer-clock) COMPREPLY=($(compgen -W "auto worker" -- "$cur")); return;;
    grpc:-fleet-on-loss|grpc:--fleet-on-loss) COMPREPLY=($(compgen -W "fail go-on" -- "$cur")); return;;
    seek:-by|seek:--by) COMPREPLY=($(compgen -W "rate connections vus" -- "$cur")); return;;
    seek:-arrivals|seek:--arrivals) COMPREPLY=($(compgen -W "poisson constant" -- "$cur")); return;;
    seek:-format|seek:--format) COMPREPLY=($(compgen -W "http json" -- "$cur")); return;;
    seek:-io|seek:--io) COMPREPLY=($(compgen -W "auto poll uring" -- "$cur")); return;;
    seek:-answer-clock|seek:--answer-clock) COMPREPLY=($(compgen -W "auto worker" -- "$cur")); return;;
    seek:-fleet-on-loss|seek:--fleet-on-loss) COMPREPLY=($(compgen -W "fail go-on" -- "$cur")); return;;
    cable:-codec|cable:--codec) COMPREPLY=($(compgen -W "json msgpack protobuf" -- "$cur")); return;;
    cable:-to|cable:--to) COMPREPLY=($(compgen -W "arrow parquet csv json gob" -- "$cur")); return;;
    cable:-io|cable:--io) COMPREPLY=($(compgen -W "auto poll uring" -- "$cur")); return;;
    cable:-fleet-on-loss|cable:--fleet-on-loss) COMPREPLY=($(compgen -W "fail go-on" -- "$cur")); return;;
    run:-io|run:--io) COMPREPLY=($(compgen -W "auto poll uring" -- "$cur")); return;;
    run:-fleet-on-loss|run:--fleet-on-loss) COMPREPLY=($(compgen -W "fail go-on" -- "$cur")); return;;
    lint:-format|lint:--format) COMPREPLY=($(compgen -W "text json sarif" -- "$cur")); return;;
    plot:-type|plot:--type) COMPREPLY=($(compgen -W "html svg png text markdown json" -- "$cur")); return;;
    plot:-axis|plot:--axis) COMPREPLY=($(compgen -W "linear tail" -- "$cur")); return;;
    plot:-server|plot:--server) COMPREPLY=($(compgen -W "percentiles time" -- "$cur")); return;;
    compare:-type|compare:--type) COMPREPLY=($(compgen -W "text json markdown html junit" -- "$cur")); return;;
    fit:-by|fit:--by) COMPREPLY=($(compgen -W "users rate" -- "$cur")); return;;
    fit:-model|fit:--model) COMPREPLY=($(compgen -W "closed mmc mgc usl" -- "$cur")); return;;
    encode:-to|encode:--to) COMPREPLY=($(compgen -W "arrow parquet csv json gob" -- "$cur")); return;;
    watch:-to|watch:--to) COMPREPLY=($(compgen -W "arrow parquet" -- "$cur")); return;;
    fleet:-to|fleet:--to) COMPREPLY=($(compgen -W "arrow parquet csv json gob" -- "$cur")); return;;
    import:-from|import:--from) COMPREPLY=($(compgen -W "curl har openapi postman http log" -- "$cur")); return;;
    import:-to|import:--to) COMPREPLY=($(compgen -W "k6 targets" -- "$cur")); return;;
    completions:*) COMPREPLY=($(compgen -W "bash zsh fish" -- "$cur")); return;;
  esac
  if [[ $cur == -* ]]; then
    COMPREPLY=($(compgen -W "$flags" -- "$cur"))
  elif [[ -z $command ]]; then
    COMPREPLY=($(compgen -W "demo attack bench grpc seek cable run inspect archive lint vendor new report plot compare runs ui study fit encode dump serve watch fleet agent import record jitter completions man help ab ghz hey jmeter k6 oha perfer vegeta wrk wrk2" -- "$cur"))
  else
    COMPREPLY=($(compgen -f -- "$cur"))
  fi
}
complete -o filenames -F _brunt brunt
