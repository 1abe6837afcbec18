package main

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"io"
	"math/big"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/cri-streaming/pkg/streaming/portforward"
)

// What the API server asks a node for: /containerLogs/NAMESPACE/POD/CONTAINER and /portForward/NAMESPACE/POD.
func (n *node) handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("/containerLogs/", func(w http.ResponseWriter, r *http.Request) {
		parts := strings.Split(r.URL.Path, "/")
		pod, err := n.client.CoreV1().Pods(parts[2]).Get(r.Context(), parts[3], metav1.GetOptions{})
		if err != nil {
			http.Error(w, err.Error(), http.StatusNotFound)
			return
		}
		text, _ := os.ReadFile(filepath.Join(n.podDir(pod), "log"))
		lines := strings.SplitAfter(strings.TrimRight(string(text), "\n"), "\n")
		if r.URL.Query().Get("tailLines") == "1" {
			lines = lines[len(lines)-1:]
		}
		io.WriteString(w, strings.Join(lines, ""))
	})
	mux.HandleFunc("/portForward/", func(w http.ResponseWriter, r *http.Request) {
		parts := strings.Split(r.URL.Path, "/")
		options, err := portforward.NewV4Options(r)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		portforward.ServePortForward(w, r, forwarder{}, parts[3], "", options,
			time.Hour, 30*time.Second, portforward.SupportedProtocols)
	})
	return mux
}

// Pods have no network of their own.
type forwarder struct{}

func (forwarder) PortForward(_ context.Context, _, _ string, port int32, stream io.ReadWriteCloser) error {
	connection, err := net.Dial("tcp", fmt.Sprintf("127.0.0.1:%d", port))
	if err != nil {
		return err
	}
	defer connection.Close()
	ended := make(chan struct{}, 2)
	go func() { io.Copy(connection, stream); ended <- struct{}{} }()
	go func() { io.Copy(stream, connection); ended <- struct{}{} }()
	<-ended
	return nil
}

// The API server believes any certificate of a node unless it is given an authority.
func selfSigned(dir string) (string, string) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	check(err)
	template := x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(24 * time.Hour)}
	der, err := x509.CreateCertificate(rand.Reader, &template, &template, &key.PublicKey, key)
	check(err)
	private, err := x509.MarshalECPrivateKey(key)
	check(err)
	files := [2]string{filepath.Join(dir, "node.pem"), filepath.Join(dir, "node-key.pem")}
	check(os.WriteFile(files[0], pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), 0o600))
	check(os.WriteFile(files[1], pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: private}), 0o600))
	return files[0], files[1]
}
