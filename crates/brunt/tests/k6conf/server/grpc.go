package main

import (
	"encoding/binary"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// A hand-made gRPC service (see data/echo.proto):
//   Unary(Req) Reply; ServerStream(Req) stream Reply; ClientStream(stream Req) Reply; Bidi(stream Req) stream Reply; Fail(Req) Reply
// message Req { string text = 1; int32 n = 2; }  message Reply { string text = 1; int32 n = 2; repeated string words = 3; }

type pbReq struct {
	text string
	n    int32
}

func decReq(b []byte) (r pbReq) {
	for len(b) > 0 {
		tag, k := binary.Uvarint(b)
		if k <= 0 {
			return
		}
		b = b[k:]
		v, k := binary.Uvarint(b)
		if k <= 0 {
			return
		}
		b = b[k:]
		if tag&7 == 2 {
			if int(v) > len(b) {
				return
			}
			if tag>>3 == 1 {
				r.text = string(b[:v])
			}
			b = b[v:]
		} else if tag>>3 == 2 {
			r.n = int32(v)
		}
	}
	return
}

func encReply(text string, n int32, words []string) []byte {
	var b []byte
	s := func(f byte, v string) {
		b = binary.AppendUvarint(append(b, f<<3|2), uint64(len(v)))
		b = append(b, v...)
	}
	if text != "" {
		s(1, text)
	}
	if n != 0 {
		b = binary.AppendUvarint(append(b, 2<<3), uint64(uint32(n)))
	}
	for _, w := range words {
		s(3, w)
	}
	return b
}

func readFrame(r io.Reader) ([]byte, error) {
	var h [5]byte
	if _, err := io.ReadFull(r, h[:]); err != nil {
		return nil, err
	}
	b := make([]byte, binary.BigEndian.Uint32(h[1:]))
	_, err := io.ReadFull(r, b)
	return b, err
}

func writeFrame(w http.ResponseWriter, b []byte) {
	h := make([]byte, 5)
	binary.BigEndian.PutUint32(h[1:], uint32(len(b)))
	_, _ = w.Write(append(h, b...))
	w.(http.Flusher).Flush()
}

func grpcStart(w http.ResponseWriter, r *http.Request) bool {
	if !strings.HasPrefix(r.Header.Get("Content-Type"), "application/grpc") {
		w.WriteHeader(415)
		return false
	}
	w.Header().Set("Content-Type", "application/grpc")
	w.Header().Set("Trailer", "Grpc-Status, Grpc-Message, X-Trail")
	if m := r.Header.Get("X-Meta"); m != "" {
		w.Header().Set("X-Meta-Back", m)
	}
	w.WriteHeader(200)
	return true
}

func grpcEnd(w http.ResponseWriter, code int, msg string) {
	w.Header().Set("Grpc-Status", strconv.Itoa(code))
	w.Header().Set("X-Trail", "t1")
	if msg != "" {
		w.Header().Set("Grpc-Message", msg)
	}
}

func grpcEcho(w http.ResponseWriter, r *http.Request) {
	method := pathValue(r, "m")
	if !grpcStart(w, r) {
		return
	}
	switch method {
	case "Unary", "Slow":
		b, err := readFrame(r.Body)
		if err != nil {
			grpcEnd(w, 13, "no frame")
			return
		}
		q := decReq(b)
		if method == "Slow" {
			select {
			case <-time.After(3 * time.Second):
			case <-r.Context().Done():
				return
			}
		}
		writeFrame(w, encReply("echo:"+q.text, q.n+1, strings.Fields(q.text)))
		grpcEnd(w, 0, "")
	case "ServerStream":
		b, _ := readFrame(r.Body)
		q := decReq(b)
		for i := int32(1); i <= q.n; i++ {
			writeFrame(w, encReply(q.text, i, nil))
		}
		grpcEnd(w, 0, "")
	case "ClientStream":
		sum, texts := int32(0), []string{}
		for {
			b, err := readFrame(r.Body)
			if err != nil {
				break
			}
			q := decReq(b)
			sum += q.n
			texts = append(texts, q.text)
		}
		writeFrame(w, encReply("sum", sum, texts))
		grpcEnd(w, 0, "")
	case "Bidi":
		for {
			b, err := readFrame(r.Body)
			if err != nil {
				break
			}
			q := decReq(b)
			writeFrame(w, encReply("re:"+q.text, q.n*2, nil))
		}
		grpcEnd(w, 0, "")
	case "Fail":
		b, _ := readFrame(r.Body)
		grpcEnd(w, int(decReq(b).n), fmt.Sprintf("failed with %d", decReq(b).n))
	default:
		grpcEnd(w, 12, "unknown method")
	}
}

func grpcHealth(w http.ResponseWriter, r *http.Request) {
	if !grpcStart(w, r) {
		return
	}
	b, _ := readFrame(r.Body)
	svc := decReq(b).text
	if svc != "" && svc != "conf.Echo" {
		grpcEnd(w, 5, "unknown service")
		return
	}
	writeFrame(w, []byte{1 << 3, 1})
	grpcEnd(w, 0, "")
}
