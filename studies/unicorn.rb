# Three workers, as the post of saturation had three Mongrels on each host; the address comes from -l.
worker_processes 3
preload_app true
timeout 60
