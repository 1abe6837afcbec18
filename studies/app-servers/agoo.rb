# The application in Agoo. `rackup -s agoo` listens on all interfaces and hands files to Rails whatever its options say
# (2.15), so the server is set up here: files first, and one address.
require "agoo"
require_relative "../app/app"

Agoo::Log.configure(console: true, classic: true, colorize: false, states: { INFO: true, request: false, response: false })
Agoo::Server.init(0, StudyApp.paths["public"].first.to_s, bind: ["http://127.0.0.1:4136"], thread_count: 0, worker_count: 1, root_first: true)
Agoo::Server.handle(nil, "**", StudyApp)
Agoo::Server.start
