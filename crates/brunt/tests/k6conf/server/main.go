// Command server is the local test bed of the k6conf harness: an httpbin-like
// HTTP/1.1 + HTTP/2 (TLS, ALPN) + mutual TLS server, a WebSocket echo server, a
// tiny gRPC service (h2c and TLS) and a small Action Cable endpoint.
// It listens on 127.0.0.1 only and exits when its stdin closes.
package main

import (
	"bytes"
	"compress/flate"
	"compress/gzip"
	"compress/zlib"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/md5"
	"crypto/rand"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"encoding/pem"
	"flag"
	"fmt"
	"io"
	"log"
	"math/big"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"sort"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/zstd"
	"golang.org/x/net/http2"
	"golang.org/x/net/http2/h2c"
)

type ctxKey int

const connIDKey ctxKey = 1

var (
	connSeq  int64
	connMu   sync.Mutex
	counters = map[string]int{}
	cntMu    sync.Mutex
)

func nextConnID() int64 {
	connMu.Lock()
	defer connMu.Unlock()
	connSeq++
	return connSeq
}

// ---------------------------------------------------------------- certificates

type pki struct {
	caPEM, certPEM, keyPEM, cliPEM, cliKeyPEM []byte
	encKeyPEM                                 []byte
	server                                    tls.Certificate
	pool                                      *x509.CertPool
}

func pemKey(k *ecdsa.PrivateKey) []byte {
	b, err := x509.MarshalECPrivateKey(k)
	must(err)
	return pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: b})
}

func makePKI() *pki {
	now := time.Now()
	caKey, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	must(err)
	caT := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "k6conf test CA", Organization: []string{"k6conf"}},
		NotBefore: now.Add(-time.Hour), NotAfter: now.Add(90 * 24 * time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature,
	}
	caDER, err := x509.CreateCertificate(rand.Reader, caT, caT, &caKey.PublicKey, caKey)
	must(err)
	ca, err := x509.ParseCertificate(caDER)
	must(err)
	issue := func(sn int64, cn string, eku x509.ExtKeyUsage) ([]byte, *ecdsa.PrivateKey) {
		k, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
		must(err)
		t := &x509.Certificate{
			SerialNumber: big.NewInt(sn), Subject: pkix.Name{CommonName: cn},
			NotBefore: now.Add(-time.Hour), NotAfter: now.Add(90 * 24 * time.Hour),
			KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{eku},
			DNSNames: []string{"localhost", "k6conf.test"}, IPAddresses: []net.IP{net.ParseIP("127.0.0.1")},
		}
		der, err := x509.CreateCertificate(rand.Reader, t, ca, &k.PublicKey, caKey)
		must(err)
		return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), k
	}
	p := &pki{caPEM: pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: caDER})}
	var sk, ck *ecdsa.PrivateKey
	p.certPEM, sk = issue(2, "k6conf-server", x509.ExtKeyUsageServerAuth)
	p.keyPEM = pemKey(sk)
	p.cliPEM, ck = issue(3, "k6conf-client", x509.ExtKeyUsageClientAuth)
	p.cliKeyPEM = pemKey(ck)
	p.server, err = tls.X509KeyPair(p.certPEM, p.keyPEM)
	must(err)
	p.pool = x509.NewCertPool()
	p.pool.AddCert(ca)
	return p
}

func must(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

// ---------------------------------------------------------------- helpers

func writeJSON(w http.ResponseWriter, status int, v any) {
	b, err := json.Marshal(v)
	must(err)
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(b)
}

func flat(v map[string][]string) map[string]any {
	out := map[string]any{}
	for k, vs := range v {
		if len(vs) == 1 {
			out[k] = vs[0]
		} else {
			out[k] = vs
		}
	}
	return out
}

func headersOf(r *http.Request) map[string]string {
	out := map[string]string{"Host": r.Host}
	for k, vs := range r.Header {
		out[k] = strings.Join(vs, ", ")
	}
	return out
}

// describe is the httpbin-like description of a request.
func describe(r *http.Request) map[string]any {
	body, _ := io.ReadAll(r.Body)
	res := map[string]any{
		"method": r.Method, "path": r.URL.Path, "args": flat(r.URL.Query()),
		"headers": headersOf(r), "proto": r.Proto, "length": len(body),
	}
	enc := r.Header.Get("Content-Encoding")
	if enc != "" {
		parts := strings.Split(enc, ",")
		ok := true
		for i := len(parts) - 1; i >= 0 && ok; i-- {
			var d []byte
			var err error
			switch strings.TrimSpace(parts[i]) {
			case "gzip":
				var zr *gzip.Reader
				if zr, err = gzip.NewReader(bytes.NewReader(body)); err == nil {
					d, err = io.ReadAll(zr)
				}
			case "deflate":
				var zr io.ReadCloser
				if zr, err = zlib.NewReader(bytes.NewReader(body)); err != nil {
					zr, err = flate.NewReader(bytes.NewReader(body)), nil
				}
				d, err = io.ReadAll(zr)
			case "br":
				d, err = io.ReadAll(brotli.NewReader(bytes.NewReader(body)))
			case "zstd":
				var zr *zstd.Decoder
				if zr, err = zstd.NewReader(bytes.NewReader(body)); err == nil {
					d, err = io.ReadAll(zr)
					zr.Close()
				}
			default:
				ok = false
				continue
			}
			if err != nil {
				ok = false
				res["decodeError"] = true
			} else {
				body = d
			}
		}
		res["decoded"] = ok
		res["length"] = len(body)
	}
	ct := r.Header.Get("Content-Type")
	switch {
	case strings.HasPrefix(ct, "multipart/form-data"):
		r.Body = io.NopCloser(bytes.NewReader(body))
		if err := r.ParseMultipartForm(8 << 20); err != nil {
			res["error"] = "bad multipart"
			break
		}
		form := map[string]any{}
		for k, v := range r.MultipartForm.Value {
			form[k] = flat(map[string][]string{k: v})[k]
		}
		type file struct {
			Field, Filename, ContentType, Sha256 string
			Size                                 int64
		}
		files := []file{}
		for k, fhs := range r.MultipartForm.File {
			for _, fh := range fhs {
				f, err := fh.Open()
				must(err)
				h := sha256.New()
				_, _ = io.Copy(h, f)
				_ = f.Close()
				files = append(files, file{k, fh.Filename, fh.Header.Get("Content-Type"), hex.EncodeToString(h.Sum(nil)), fh.Size})
			}
		}
		sort.Slice(files, func(i, j int) bool { return files[i].Field < files[j].Field })
		res["form"], res["files"] = form, files
	case strings.HasPrefix(ct, "application/x-www-form-urlencoded"):
		q, err := url.ParseQuery(string(body))
		if err == nil {
			res["form"] = flat(q)
		}
		res["data"] = string(body)
	case strings.HasPrefix(ct, "application/json"):
		var v any
		if json.Unmarshal(body, &v) == nil {
			res["json"] = v
		}
		res["data"] = string(body)
	default:
		sum := sha256.Sum256(body)
		res["sha256"] = hex.EncodeToString(sum[:])
		if len(body) < 4096 {
			res["data"] = string(body)
		}
	}
	return res
}

func compressible(enc string) []byte {
	b, _ := json.Marshal(map[string]any{"encoding": enc, "text": strings.Repeat("the quick brown fox ", 50)})
	return b
}

func compress(enc string, b []byte) []byte {
	var buf bytes.Buffer
	var w io.WriteCloser
	switch enc {
	case "gzip":
		w = gzip.NewWriter(&buf)
	case "deflate":
		w = zlib.NewWriter(&buf)
	case "br":
		w = brotli.NewWriter(&buf)
	case "zstd":
		w, _ = zstd.NewWriter(&buf)
	}
	_, _ = w.Write(b)
	_ = w.Close()
	return buf.Bytes()
}

const page = `<!DOCTYPE html>
<html lang="en"><head><title>k6conf page</title>
<meta name="csrf-token" content="tok-123"><meta name="action-cable-url" content="ws://127.0.0.1/cable"></head>
<body>
<h1 id="top" class="title big" data-num="42" data-obj='{"a":[1,2]}' data-flag="true">Hello <b>World</b></h1>
<ul id="list"><li class="item odd">one</li><li class="item even">two</li><li class="item odd last">three</li></ul>
<div class="outer"><div class="inner"><p>first</p><p>second</p><span>span</span></div></div>
<a id="l1" href="/get?from=link1">one</a> <a id="l2" href="http://127.0.0.1:1/x?y=1#frag" target="_blank" rel="nofollow me">two</a>
<turbo-cable-stream-source channel="Turbo::StreamsChannel" signed-stream-name="sig-1"></turbo-cable-stream-source>
<form id="f1" action="/anything/form1" method="post">
<input type="hidden" name="token" value="abc"><input type="text" name="user" value="bob">
<input type="password" name="pass" value=""><input type="checkbox" name="c1" value="on1" checked>
<input type="checkbox" name="c2" value="on2"><input type="radio" name="r" value="r1"><input type="radio" name="r" value="r2" checked>
<select name="sel"><option value="s1">S1</option><option value="s2" selected>S2</option></select>
<select name="multi" multiple><option value="m1" selected>M1</option><option value="m2">M2</option><option value="m3" selected>M3</option></select>
<textarea name="ta">text area</textarea><input type="text" name="dis" value="x" disabled>
<button type="submit" name="go" value="Go!">Go</button></form>
<form id="f2" action="/anything/form2"><input name="q" value="a b&amp;c"><input type="submit" name="s" value="Search"></form>
<table><caption>cap</caption><thead><tr><th scope="col">H</th></tr></thead><tbody><tr><td colspan="2">d1</td></tr><tr><td>d2</td></tr></tbody></table>
<img src="/img.png" alt="pic" width="10" height="20"><progress value="30" max="60"></progress>
</body></html>`

func routes(base map[string]string) *router {
	mux := &router{}
	anything := func(w http.ResponseWriter, r *http.Request) { writeJSON(w, 200, describe(r)) }
	for _, p := range []string{"/anything", "/anything/", "/get", "/post", "/put", "/patch", "/delete", "/options", "/head"} {
		mux.HandleFunc(p, anything)
	}
	mux.HandleFunc("/{$}", func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, "k6conf") })
	mux.HandleFunc("/ping", func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, "pong") })
	mux.HandleFunc("/headers", func(w http.ResponseWriter, r *http.Request) { writeJSON(w, 200, headersOf(r)) })
	mux.HandleFunc("/user-agent", func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, r.UserAgent()) })
	mux.HandleFunc("/raw-echo", func(w http.ResponseWriter, r *http.Request) {
		b, _ := io.ReadAll(r.Body)
		w.Header().Set("Content-Type", "application/octet-stream")
		_, _ = w.Write(b)
	})
	mux.HandleFunc("/status/{n}", func(w http.ResponseWriter, r *http.Request) {
		n, _ := strconv.Atoi(pathValue(r, "n"))
		if n == 301 || n == 302 || n == 303 || n == 307 || n == 308 {
			w.Header().Set("Location", "/anything/redirected")
		}
		w.WriteHeader(n)
		if n >= 200 && n != 204 && n != 304 {
			fmt.Fprintf(w, "status %d", n)
		}
	})
	mux.HandleFunc("/redirect/{n}", func(w http.ResponseWriter, r *http.Request) {
		n, _ := strconv.Atoi(pathValue(r, "n"))
		if n <= 0 {
			http.Redirect(w, r, "/anything/end", 302)
			return
		}
		loc := fmt.Sprintf("/redirect/%d", n-1)
		if n == 1 {
			loc = "/anything/end"
		}
		if r.URL.Query().Get("abs") != "" {
			loc = "http://" + r.Host + loc
		}
		if c := r.URL.Query().Get("cookie"); c != "" {
			http.SetCookie(w, &http.Cookie{Name: "hop" + strconv.Itoa(n), Value: c, Path: "/"})
		}
		w.Header().Set("Location", loc)
		w.WriteHeader(302)
	})
	mux.HandleFunc("/redirect-to", func(w http.ResponseWriter, r *http.Request) {
		code, _ := strconv.Atoi(r.URL.Query().Get("code"))
		if code == 0 {
			code = 302
		}
		w.Header().Set("Location", r.URL.Query().Get("url"))
		w.WriteHeader(code)
	})
	mux.HandleFunc("/cookies", func(w http.ResponseWriter, r *http.Request) {
		out := map[string][]string{}
		for _, c := range r.Cookies() {
			out[c.Name] = append(out[c.Name], c.Value)
		}
		writeJSON(w, 200, map[string]any{"cookies": out, "raw": r.Header.Get("Cookie")})
	})
	mux.HandleFunc("/cookies/set", func(w http.ResponseWriter, r *http.Request) {
		keys := []string{}
		for k := range r.URL.Query() {
			keys = append(keys, k)
		}
		sort.Strings(keys)
		for _, k := range keys {
			http.SetCookie(w, &http.Cookie{Name: k, Value: r.URL.Query().Get(k), Path: "/"})
		}
		w.Header().Set("Location", "/cookies")
		w.WriteHeader(302)
	})
	mux.HandleFunc("/cookies/raw", func(w http.ResponseWriter, r *http.Request) {
		for _, c := range r.URL.Query()["c"] {
			w.Header().Add("Set-Cookie", c)
		}
		fmt.Fprint(w, "set")
	})
	mux.HandleFunc("/cookies/delete", func(w http.ResponseWriter, r *http.Request) {
		for k := range r.URL.Query() {
			http.SetCookie(w, &http.Cookie{Name: k, Path: "/", MaxAge: -1})
		}
		fmt.Fprint(w, "deleted")
	})
	mux.HandleFunc("/basic-auth/{u}/{p}", func(w http.ResponseWriter, r *http.Request) {
		u, p, ok := r.BasicAuth()
		if !ok || u != pathValue(r, "u") || p != pathValue(r, "p") {
			w.Header().Set("WWW-Authenticate", `Basic realm="k6conf"`)
			w.WriteHeader(401)
			return
		}
		writeJSON(w, 200, map[string]any{"authenticated": true, "user": u})
	})
	mux.HandleFunc("/digest-auth/{u}/{p}", digest)
	for _, enc := range []string{"gzip", "deflate", "br", "zstd"} {
		payload := compress(enc, compressible(enc))
		mux.HandleFunc("/enc/"+enc, func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			w.Header().Set("Content-Encoding", enc)
			_, _ = w.Write(payload)
		})
	}
	multi := compress("br", compress("zstd", compressible("zstd, br")))
	mux.HandleFunc("/enc/multi", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Content-Encoding", "zstd, br")
		_, _ = w.Write(multi)
	})
	mux.HandleFunc("/enc/bad", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Encoding", "gzip")
		fmt.Fprint(w, "this is not gzip")
	})
	mux.HandleFunc("/enc/unknown", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Encoding", "x-rot13")
		fmt.Fprint(w, "uryyb")
	})
	mux.HandleFunc("/delay/{ms}", func(w http.ResponseWriter, r *http.Request) {
		ms, _ := strconv.Atoi(pathValue(r, "ms"))
		select {
		case <-time.After(time.Duration(ms) * time.Millisecond):
		case <-r.Context().Done():
			return
		}
		fmt.Fprintf(w, "slept %d", ms)
	})
	mux.HandleFunc("/slow-body", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Length", "20")
		fmt.Fprint(w, "0123456789")
		w.(http.Flusher).Flush()
		select {
		case <-time.After(5 * time.Second):
		case <-r.Context().Done():
			return
		}
		fmt.Fprint(w, "0123456789")
	})
	mux.HandleFunc("/chunked/{n}", func(w http.ResponseWriter, r *http.Request) {
		n, _ := strconv.Atoi(pathValue(r, "n"))
		for i := 0; i < n; i++ {
			fmt.Fprintf(w, "chunk %d\n", i)
			w.(http.Flusher).Flush()
		}
	})
	mux.HandleFunc("/bytes/{n}", func(w http.ResponseWriter, r *http.Request) {
		n, _ := strconv.Atoi(pathValue(r, "n"))
		b := make([]byte, n)
		for i := range b {
			b[i] = byte(i)
		}
		w.Header().Set("Content-Type", "application/octet-stream")
		_, _ = w.Write(b)
	})
	mux.HandleFunc("/html", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		fmt.Fprint(w, page)
	})
	mux.HandleFunc("/json", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprint(w, `{"name":{"first":"Ann","last":"Lee"},"age":37,"tags":["a","b","c"],"friends":[{"n":"Dale","age":44},{"n":"Roger","age":68},{"n":"Jane","age":47}],"nil":null,"t":true,"big":12345678901,"f":1.5}`)
	})
	mux.HandleFunc("/badjson", func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, "{\n \"a\": 1,\n \"b\": oops }") })
	mux.HandleFunc("/utf8", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		fmt.Fprint(w, "žluťoučký 漢字 🎉 end")
	})
	mux.HandleFunc("/multi-header", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Add("X-Multi", "one")
		w.Header().Add("X-Multi", "two")
		w.Header()["x-lower-case"] = []string{"v"}
		w.Header().Set("ETag", `"abc"`)
		fmt.Fprint(w, "ok")
	})
	mux.HandleFunc("/conn", func(w http.ResponseWriter, r *http.Request) {
		id, _ := r.Context().Value(connIDKey).(int64)
		fmt.Fprint(w, id)
	})
	mux.HandleFunc("/count/{name}", func(w http.ResponseWriter, r *http.Request) {
		cntMu.Lock()
		if r.URL.Query().Get("peek") == "" {
			counters[pathValue(r, "name")]++
		}
		n := counters[pathValue(r, "name")]
		cntMu.Unlock()
		fmt.Fprint(w, n)
	})
	mux.HandleFunc("/tlsinfo", func(w http.ResponseWriter, r *http.Request) {
		if r.TLS == nil {
			writeJSON(w, 200, map[string]any{"tls": false})
			return
		}
		cn := ""
		if len(r.TLS.PeerCertificates) > 0 {
			cn = r.TLS.PeerCertificates[0].Subject.CommonName
		}
		writeJSON(w, 200, map[string]any{
			"tls": true, "version": versionName(r.TLS.Version), "alpn": r.TLS.NegotiatedProtocol,
			"proto": r.Proto, "sni": r.TLS.ServerName, "client": cn,
		})
	})
	mux.HandleFunc("/hang", func(w http.ResponseWriter, r *http.Request) {
		select {
		case <-r.Context().Done():
		case <-time.After(30 * time.Second):
		}
	})
	mux.HandleFunc("/abrupt", func(w http.ResponseWriter, r *http.Request) { // close without an answer
		c, _, err := w.(http.Hijacker).Hijack()
		if err == nil {
			_ = c.Close()
		}
	})
	mux.HandleFunc("/reset", func(w http.ResponseWriter, r *http.Request) {
		c, _, err := w.(http.Hijacker).Hijack()
		if err == nil {
			if t, ok := c.(*net.TCPConn); ok {
				_ = t.SetLinger(0)
			}
			_ = c.Close()
		}
	})
	mux.HandleFunc("/lib/{name}", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/javascript")
		switch pathValue(r, "name") {
		case "remote.js":
			fmt.Fprint(w, "import { inner } from './inner.js';\nexport const where = 'remote';\nexport function twice(x) { return inner(x) * 2; }\n")
		case "inner.js":
			fmt.Fprint(w, "export function inner(x) { return x + 1; }\n")
		default:
			w.WriteHeader(404)
		}
	})
	// secrets endpoint for --secret-source=url
	mux.HandleFunc("/ws/echo", wsEcho)
	mux.HandleFunc("/ws/headers", wsHeaders)
	mux.HandleFunc("/ws/close", wsClose)
	mux.HandleFunc("/ws/count/{n}", wsCount)
	mux.HandleFunc("/ws/ping", wsPing)
	mux.HandleFunc("/ws/abrupt", wsAbrupt)
	mux.HandleFunc("/cable", cable)
	mux.HandleFunc("/grpc-none", func(w http.ResponseWriter, r *http.Request) { w.WriteHeader(404) })
	mux.HandleFunc("/conf.Echo/{m}", grpcEcho)
	mux.HandleFunc("/grpc.health.v1.Health/Check", grpcHealth)
	return mux
}

func digest(w http.ResponseWriter, r *http.Request) {
	u, p := pathValue(r, "u"), pathValue(r, "p")
	const realm, nonce = "k6conf", "d8c7b6a5f4e3"
	h := func(s string) string { m := md5.Sum([]byte(s)); return hex.EncodeToString(m[:]) }
	auth := r.Header.Get("Authorization")
	challenge := func() {
		w.Header().Set("WWW-Authenticate", fmt.Sprintf(`Digest realm="%s", qop="auth", nonce="%s", opaque="op4que", algorithm=MD5`, realm, nonce))
		w.WriteHeader(401)
	}
	if !strings.HasPrefix(auth, "Digest ") {
		challenge()
		return
	}
	f := map[string]string{}
	for _, part := range strings.Split(auth[7:], ",") {
		k, v, _ := strings.Cut(strings.TrimSpace(part), "=")
		f[k] = strings.Trim(v, `"`)
	}
	ha1 := h(f["username"] + ":" + realm + ":" + p)
	ha2 := h(r.Method + ":" + f["uri"])
	want := h(ha1 + ":" + nonce + ":" + f["nc"] + ":" + f["cnonce"] + ":" + f["qop"] + ":" + ha2)
	if f["username"] != u || f["response"] != want {
		challenge()
		return
	}
	writeJSON(w, 200, map[string]any{"authenticated": true, "user": u, "method": r.Method})
}

func withConn(s *http.Server) *http.Server {
	s.ConnContext = func(ctx context.Context, c net.Conn) context.Context {
		return context.WithValue(ctx, connIDKey, nextConnID())
	}
	s.ErrorLog = log.New(io.Discard, "", 0)
	return s
}

func main() {
	port := flag.Int("port", 18311, "base port; uses port..port+4")
	dir := flag.String("dir", ".", "where to write the PEM files")
	flag.Parse()
	p := makePKI()
	for n, b := range map[string][]byte{
		"ca.pem": p.caPEM, "server.pem": p.certPEM, "client.pem": p.cliPEM, "client.key": p.cliKeyPEM,
	} {
		must(os.WriteFile(filepath.Join(*dir, n), b, 0o600))
	}
	listen := func(off int) net.Listener {
		l, err := net.Listen("tcp4", fmt.Sprintf("127.0.0.1:%d", *port+off))
		must(err)
		return l
	}
	mux := routes(nil)
	// 0: HTTP/1.1 and, with prior knowledge, h2c (gRPC plaintext)
	h1 := withConn(&http.Server{Handler: h2c.NewHandler(mux, &http2.Server{})})
	l0 := listen(0)
	// 1: HTTPS with ALPN h2 + http/1.1
	l1 := tls.NewListener(listen(1), &tls.Config{Certificates: []tls.Certificate{p.server}, NextProtos: []string{"h2", "http/1.1"}, MinVersion: tls.VersionTLS12})
	// 2: HTTPS, HTTP/1.1 only
	l2 := tls.NewListener(listen(2), &tls.Config{Certificates: []tls.Certificate{p.server}, NextProtos: []string{"http/1.1"}, MinVersion: tls.VersionTLS12})
	// 3: mutual TLS
	l3 := tls.NewListener(listen(3), &tls.Config{
		Certificates: []tls.Certificate{p.server}, NextProtos: []string{"h2", "http/1.1"},
		ClientAuth: tls.RequireAndVerifyClientCert, ClientCAs: p.pool,
	})
	tlsSrv := withConn(&http.Server{Handler: mux})
	h1only := withConn(&http.Server{Handler: mux})
	h1only.TLSNextProto = map[string]func(*http.Server, *tls.Conn, http.Handler){}
	go func() { must(h1.Serve(l0)) }()
	go func() { must(tlsSrv.Serve(l1)) }()
	go func() { must(h1only.Serve(l2)) }()
	go func() { must(tlsSrv.Serve(l3)) }()
	// 4: a plain TCP port that answers garbage (for protocol errors)
	l4 := listen(4)
	go func() {
		for {
			c, err := l4.Accept()
			if err != nil {
				return
			}
			go func() {
				buf := make([]byte, 1024)
				_, _ = c.Read(buf)
				_, _ = c.Write([]byte("garbage, not http\r\n\r\n"))
				_ = c.Close()
			}()
		}
	}()
	fmt.Println("ready", base64.StdEncoding.EncodeToString([]byte(strconv.Itoa(*port))))
	_, _ = io.Copy(io.Discard, os.Stdin) // live as long as the harness
}
