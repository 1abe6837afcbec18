"""A small shop to practise on: log-in with a CSRF token, a cart, forms, uploads, Turbo, GraphQL, a JSON API, server-sent events.

    python3 examples/shop/shop.py          listens on 127.0.0.1:8090; another port is its argument, 0 takes a free one

It needs nothing but Python, keeps everything in memory, and is no example of how to write a shop.
"""
import html, json, secrets, sys, time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlsplit

PRODUCTS = [{"id": n, "name": name, "price": 3 + n} for n, name in enumerate(["tea", "coffee", "cocoa", "mate"], 1)]
SESSIONS = {}   # the session's id -> {"token", "user", "cart"}
NOTES = {}      # the note's number -> its text


class Shop(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    wbufsize = -1   # One packet for head and body.
    disable_nagle_algorithm = True

    # Requests.

    def do_GET(self):
        path = urlsplit(self.path).path
        if path == "/":
            return self.page("Shop", "".join(f'<li><a href="/products/{p["id"]}">{p["name"]}</a></li>' for p in PRODUCTS))
        if path.startswith("/products/"):
            product = self.product(path)
            return self.page(product["name"], self.form("/cart", f'<input type="hidden" name="product" value="{product["id"]}"><button>Buy</button>')) if product else self.text(404, "no such product")
        if path == "/login":
            return self.page("Log in", self.form("/login", '<input name="name"><input type="password" name="password"><button>Log in</button>'))
        if path == "/account":
            user = self.session()["user"]
            return self.page("Account", f"<p id=user>{html.escape(user)}</p>") if user else self.redirect("/login")
        if path == "/upload":
            return self.page("Upload", self.form("/upload", '<input type="file" name="picture"><button>Send</button>', "multipart/form-data"))
        if path == "/events":
            return self.events()
        if path.startswith("/api/notes/"):
            number = path.rsplit("/", 1)[1]
            return self.json(200, {"id": number, "text": NOTES[number]}) if number in NOTES else self.json(404, {"error": "not found"})
        if path == "/api/products":
            return self.json(200, PRODUCTS)
        self.text(404, "not found")

    def do_POST(self):
        path, body = urlsplit(self.path).path, self.body()
        if path == "/graphql":
            return self.graphql(json.loads(body))
        if path == "/api/notes":
            number = secrets.token_hex(8)
            NOTES[number] = json.loads(body)["text"]
            return self.json(201, {"id": number}, {"Location": f"/api/notes/{number}"})
        multipart = self.headers.get("Content-Type", "").startswith("multipart/")
        token = self.session()["token"].encode()
        if token not in body:
            return self.text(422, "the CSRF token is missing or wrong")
        if multipart and path == "/upload":
            return self.json(201, {"bytes": len(body)})
        self.posted(path, {name: values[0] for name, values in parse_qs(body.decode()).items()})

    def posted(self, path, fields):
        session = self.session()
        if path == "/login":
            if fields.get("password") != "secret":
                return self.text(401, "wrong password")
            session["user"] = fields.get("name", "")
            return self.redirect("/account")
        if path == "/cart":
            session["cart"].append(fields.get("product"))
            if "text/vnd.turbo-stream.html" in self.headers.get("Accept", ""):
                stream = f'<turbo-stream action="update" target="cart"><template>{len(session["cart"])}</template></turbo-stream>'
                return self.answer(200, stream, "text/vnd.turbo-stream.html")
            return self.redirect("/")
        self.text(404, "not found")

    def do_DELETE(self):
        NOTES.pop(self.path.rsplit("/", 1)[1], None)
        self.answer(204, "", "text/plain")

    def graphql(self, asked):
        if "product(" not in asked["query"]:
            return self.json(200, {"data": {"products": PRODUCTS}})
        number = asked.get("variables", {}).get("id")
        found = [p for p in PRODUCTS if p["id"] == number]
        # As servers of GraphQL do: an error has status 200.
        answer = {"data": {"product": found[0]}} if found else {"data": {"product": None}, "errors": [{"message": "no such product"}]}
        self.json(200, answer)

    def events(self):
        self.close_connection = True
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Connection", "close")
        self.end_headers()
        for number in range(5):
            self.wfile.write(f"id: {number}\nevent: price\ndata: {3 + number}\n\n".encode())
            self.wfile.flush()
            time.sleep(0.05)

    # Sessions.

    def session(self):
        if getattr(self, "current", None) is None:
            cookies = dict(part.strip().split("=", 1) for part in self.headers.get("Cookie", "").split(";") if "=" in part)
            self.current = cookies.get("session")
            if self.current not in SESSIONS:
                self.current = secrets.token_hex(16)
                SESSIONS[self.current] = {"token": secrets.token_urlsafe(24), "user": "", "cart": []}
        return SESSIONS[self.current]

    # Answers.

    def product(self, path):
        return next((p for p in PRODUCTS if str(p["id"]) == path.rsplit("/", 1)[1]), None)

    def form(self, action, fields, enctype="application/x-www-form-urlencoded"):
        token = self.session()["token"]
        return f'<form method="post" action="{action}" enctype="{enctype}"><input type="hidden" name="authenticity_token" value="{token}">{fields}</form>'

    def page(self, title, content):
        token = self.session()["token"]
        head = f'<title>{html.escape(title)}</title><meta name="csrf-token" content="{token}">'
        self.answer(200, f"<!doctype html><html><head>{head}</head><body><h1>{html.escape(title)}</h1><p id=cart>{len(self.session()['cart'])}</p>{content}</body></html>", "text/html")

    def body(self):
        return self.rfile.read(int(self.headers.get("Content-Length") or 0))

    def redirect(self, to):
        self.answer(302, "", "text/html", {"Location": to})

    def json(self, status, value, headers=None):
        self.answer(status, json.dumps(value), "application/json", headers)

    def text(self, status, words):
        self.answer(status, words, "text/plain")

    def answer(self, status, body, kind, headers=None):
        body = body.encode()
        self.send_response(status)
        self.send_header("Content-Type", kind)
        if status != 204:
            self.send_header("Content-Length", str(len(body)))
        if getattr(self, "current", None):
            self.send_header("Set-Cookie", f"session={self.current}; Path=/; HttpOnly; SameSite=Lax")
        for name, value in (headers or {}).items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def handle_one_request(self):
        self.current = None   # A connection carries requests of several sessions.
        super().handle_one_request()

    def log_message(self, *_):
        pass


class Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 1024


if __name__ == "__main__":
    server = Server(("127.0.0.1", int(sys.argv[1]) if len(sys.argv) > 1 else 8090), Shop)
    print(f"listening on http://127.0.0.1:{server.server_port}", flush=True)
    server.serve_forever()
