# Lines of curl, as the developer tools of a browser copy them; curl.sh makes a script of them.
curl 'http://127.0.0.1:8090/api/products' -H 'Accept: application/json'
curl 'http://127.0.0.1:8090/api/notes' -H 'Content-Type: application/json' --data-raw '{"text":"from a browser"}'
