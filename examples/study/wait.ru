# The application of puma.toml: each page waits 20 ms, as for a database.
run ->(_env) { sleep 0.02; [200, { "content-type" => "text/plain" }, ["ok"]] }
