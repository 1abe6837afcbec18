package main

import (
	"context"
	"net/http"
	"strings"
)

// router finds handlers by patterns such as "/status/{n}": Debian's Go is older than net/http's own.
// "/{$}" is the root alone, a pattern that ends with "/" is all below it.
type router struct{ routes []route }

type route struct {
	parts  []string
	prefix bool
	handle http.HandlerFunc
}

type valuesKey struct{}

func (t *router) HandleFunc(pattern string, handle http.HandlerFunc) {
	r := route{handle: handle, prefix: strings.HasSuffix(pattern, "/")}
	r.parts = strings.Split(strings.Trim(strings.TrimSuffix(pattern, "{$}"), "/"), "/")
	t.routes = append(t.routes, r)
}

func (t *router) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	parts := strings.Split(strings.Trim(r.URL.Path, "/"), "/")
	var best *route
	for i := range t.routes {
		known := &t.routes[i]
		if known.matches(parts) && (best == nil || known.better(best)) {
			best = known
		}
	}
	if best == nil {
		http.NotFound(w, r)
		return
	}
	values := map[string]string{}
	for i, part := range best.parts {
		if strings.HasPrefix(part, "{") {
			values[strings.Trim(part, "{}")] = parts[i]
		}
	}
	best.handle(w, r.WithContext(context.WithValue(r.Context(), valuesKey{}, values)))
}

func (known *route) matches(parts []string) bool {
	if len(parts) < len(known.parts) || (len(parts) > len(known.parts) && !known.prefix) {
		return false
	}
	for i, part := range known.parts {
		if !strings.HasPrefix(part, "{") && part != parts[i] {
			return false
		}
	}
	return true
}

// better says whether it names more of a path than another does.
func (known *route) better(other *route) bool {
	literal := func(r *route) (n int) {
		for _, part := range r.parts {
			if !strings.HasPrefix(part, "{") {
				n++
			}
		}
		return n
	}
	return literal(known) > literal(other)
}

func pathValue(r *http.Request, name string) string {
	values, _ := r.Context().Value(valuesKey{}).(map[string]string)
	return values[name]
}

// versionName is crypto/tls's VersionName, which is younger than Debian's Go.
func versionName(version uint16) string {
	names := map[uint16]string{0x0301: "TLS 1.0", 0x0302: "TLS 1.1", 0x0303: "TLS 1.2", 0x0304: "TLS 1.3"}
	return names[version]
}
