package main

import (
	"bufio"
	"crypto/sha1"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"
)

// A small RFC 6455 server side, enough for the conformance scripts.
type wsConn struct {
	c  net.Conn
	r  *bufio.Reader
	mu sync.Mutex
}

const (
	opText, opBin, opClose, opPing, opPong = 1, 2, 8, 9, 10
)

func wsUpgrade(w http.ResponseWriter, r *http.Request, protocols []string) *wsConn {
	if !strings.EqualFold(r.Header.Get("Upgrade"), "websocket") {
		http.Error(w, "not a websocket handshake", 400)
		return nil
	}
	sum := sha1.Sum([]byte(r.Header.Get("Sec-Websocket-Key") + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"))
	hj, ok := w.(http.Hijacker)
	if !ok {
		http.Error(w, "no hijack", 500)
		return nil
	}
	proto := ""
	for _, p := range strings.Split(r.Header.Get("Sec-Websocket-Protocol"), ",") {
		p = strings.TrimSpace(p)
		for _, want := range protocols {
			if p != "" && p == want && proto == "" {
				proto = p
			}
		}
	}
	c, rw, err := hj.Hijack()
	if err != nil {
		return nil
	}
	res := "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nX-Conf: yes\r\nSec-WebSocket-Accept: " +
		base64.StdEncoding.EncodeToString(sum[:]) + "\r\n"
	if proto != "" {
		res += "Sec-WebSocket-Protocol: " + proto + "\r\n"
	}
	if ck := r.URL.Query().Get("setcookie"); ck != "" {
		res += "Set-Cookie: " + ck + "\r\n"
	}
	_, _ = c.Write([]byte(res + "\r\n"))
	return &wsConn{c: c, r: rw.Reader}
}

func (w *wsConn) write(op byte, b []byte) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	h := []byte{0x80 | op}
	switch {
	case len(b) < 126:
		h = append(h, byte(len(b)))
	case len(b) < 65536:
		h = append(h, 126, byte(len(b)>>8), byte(len(b)))
	default:
		h = append(h, 127)
		h = binary.BigEndian.AppendUint64(h, uint64(len(b)))
	}
	_, err := w.c.Write(append(h, b...))
	return err
}

func (w *wsConn) closeWith(code int, reason string) {
	b := binary.BigEndian.AppendUint16(nil, uint16(code))
	_ = w.write(opClose, append(b, reason...))
}

// read returns the next data or close message; it answers pings.
func (w *wsConn) read() (byte, []byte, error) {
	var msg []byte
	var mop byte
	for {
		var h [2]byte
		if _, err := io.ReadFull(w.r, h[:]); err != nil {
			return 0, nil, err
		}
		op, n := h[0]&15, uint64(h[1]&127)
		switch n {
		case 126:
			var x [2]byte
			if _, err := io.ReadFull(w.r, x[:]); err != nil {
				return 0, nil, err
			}
			n = uint64(binary.BigEndian.Uint16(x[:]))
		case 127:
			var x [8]byte
			if _, err := io.ReadFull(w.r, x[:]); err != nil {
				return 0, nil, err
			}
			n = binary.BigEndian.Uint64(x[:])
		}
		if n > 16<<20 {
			return 0, nil, errors.New("too big")
		}
		var key [4]byte
		masked := h[1]&128 != 0
		if masked {
			if _, err := io.ReadFull(w.r, key[:]); err != nil {
				return 0, nil, err
			}
		} else {
			w.closeWith(1002, "unmasked")
			return 0, nil, errors.New("unmasked frame")
		}
		b := make([]byte, n)
		if _, err := io.ReadFull(w.r, b); err != nil {
			return 0, nil, err
		}
		for i := range b {
			b[i] ^= key[i%4]
		}
		switch op {
		case opPing:
			_ = w.write(opPong, b)
			continue
		case opPong:
			return opPong, b, nil
		case opClose:
			return opClose, b, nil
		case 0:
			msg = append(msg, b...)
		default:
			mop, msg = op, b
		}
		if h[0]&128 != 0 {
			return mop, msg, nil
		}
	}
}

func wsEcho(w http.ResponseWriter, r *http.Request) {
	ws := wsUpgrade(w, r, []string{"echo.v1", "echo.v2"})
	if ws == nil {
		return
	}
	defer ws.c.Close()
	for {
		op, b, err := ws.read()
		if err != nil {
			return
		}
		switch op {
		case opClose:
			_ = ws.write(opClose, b)
			return
		case opPong:
		default:
			if string(b) == "please-close" {
				ws.closeWith(4001, "bye")
				_, _, _ = ws.read()
				return
			}
			if ws.write(op, b) != nil {
				return
			}
		}
	}
}

func wsHeaders(w http.ResponseWriter, r *http.Request) {
	hs := headersOf(r)
	hs["proto"] = r.Header.Get("Sec-Websocket-Protocol")
	ws := wsUpgrade(w, r, []string{"echo.v1", "echo.v2"})
	if ws == nil {
		return
	}
	defer ws.c.Close()
	b, _ := json.Marshal(hs)
	_ = ws.write(opText, b)
	drain(ws)
}

func drain(ws *wsConn) {
	_ = ws.c.SetReadDeadline(time.Now().Add(10 * time.Second))
	for {
		op, b, err := ws.read()
		if err != nil {
			return
		}
		if op == opClose {
			_ = ws.write(opClose, b)
			return
		}
	}
}

func wsClose(w http.ResponseWriter, r *http.Request) {
	ws := wsUpgrade(w, r, nil)
	if ws == nil {
		return
	}
	defer ws.c.Close()
	code, _ := strconv.Atoi(r.URL.Query().Get("code"))
	if code == 0 {
		code = 1000
	}
	time.Sleep(50 * time.Millisecond)
	ws.closeWith(code, r.URL.Query().Get("reason"))
	_ = ws.c.SetReadDeadline(time.Now().Add(2 * time.Second))
	_, _, _ = ws.read()
}

func wsCount(w http.ResponseWriter, r *http.Request) {
	n, _ := strconv.Atoi(pathValue(r, "n"))
	ws := wsUpgrade(w, r, nil)
	if ws == nil {
		return
	}
	defer ws.c.Close()
	for i := 1; i <= n; i++ {
		_ = ws.write(opText, []byte(fmt.Sprintf("msg %d", i)))
	}
	if r.URL.Query().Get("close") != "" {
		ws.closeWith(1000, "")
	}
	drain(ws)
}

func wsPing(w http.ResponseWriter, r *http.Request) {
	ws := wsUpgrade(w, r, nil)
	if ws == nil {
		return
	}
	defer ws.c.Close()
	_ = ws.write(opPing, []byte("srv"))
	_ = ws.c.SetReadDeadline(time.Now().Add(5 * time.Second))
	op, b, err := ws.read()
	if err != nil {
		return
	}
	if op == opPong {
		_ = ws.write(opText, []byte("pong:"+string(b)))
	}
	drain(ws)
}

func wsAbrupt(w http.ResponseWriter, r *http.Request) {
	ws := wsUpgrade(w, r, nil)
	if ws == nil {
		return
	}
	_ = ws.write(opText, []byte("last words"))
	time.Sleep(50 * time.Millisecond)
	_ = ws.c.Close()
}
