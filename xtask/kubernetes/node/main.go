// A node of a cluster without containers: pods are processes of this machine, each in a root directory of its own, made of what its
// image is said to be and of the volumes that the pod mounts. It does what `cargo xtask k8s` needs, and no more: two nodes, Secrets
// and empty directories, fields of the downward API, logs, forwarded ports. It neither limits nor isolates.
package main

import (
	"context"
	"flag"
	"fmt"
	"log"
	"net/http"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/clientcmd"
)

// Cores and memory of a node: what the scheduler believes.
const (
	nodeCores  = "4"
	nodeMemory = "8Gi"
)

type node struct {
	client *kubernetes.Clientset
	dir    string
	images map[string]string
	pods   *pods
}

func main() {
	config := flag.String("kubeconfig", "", "how to reach the API server")
	dir := flag.String("dir", "", "where pods live")
	listen := flag.Int("port", 0, "the port for logs and forwarded ports")
	images := flag.String("images", "", "IMAGE=PROGRAM,… : what an image would start")
	flag.Parse()
	rest, err := clientcmd.BuildConfigFromFlags("", *config)
	check(err)
	n := &node{client: kubernetes.NewForConfigOrDie(rest), dir: *dir, images: map[string]string{}, pods: newPods()}
	for _, pair := range strings.Split(*images, ",") {
		if image, program, found := strings.Cut(pair, "="); found {
			n.images[image] = program
		}
	}
	for _, name := range []string{"node-a", "node-b"} {
		n.register(name, int32(*listen))
		go n.follow(name)
	}
	certificate, key := selfSigned(*dir)
	go n.endWithAll()
	log.Fatal(http.ListenAndServeTLS(fmt.Sprintf("127.0.0.1:%d", *listen), certificate, key, n.handler()))
}

// Ends every pod when this process is asked to end.
func (n *node) endWithAll() {
	asked := make(chan os.Signal, 1)
	signal.Notify(asked, syscall.SIGTERM, syscall.SIGINT)
	<-asked
	n.pods.stopAll()
	os.Exit(0)
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

// Makes a node known, ready, and free of the taint that a new one has.
func (n *node) register(name string, port int32) {
	ctx, nodes := context.Background(), n.client.CoreV1().Nodes()
	labels := map[string]string{"kubernetes.io/hostname": name, "kubernetes.io/os": "linux"}
	_, err := nodes.Create(ctx, &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: labels}}, metav1.CreateOptions{})
	check(err)
	made, err := nodes.Get(ctx, name, metav1.GetOptions{})
	check(err)
	made.Spec.Taints = nil
	made, err = nodes.Update(ctx, made, metav1.UpdateOptions{})
	check(err)
	has := corev1.ResourceList{
		corev1.ResourceCPU:    resource.MustParse(nodeCores),
		corev1.ResourceMemory: resource.MustParse(nodeMemory),
		corev1.ResourcePods:   resource.MustParse("50"),
	}
	made.Status = corev1.NodeStatus{
		Capacity: has, Allocatable: has,
		Addresses:       []corev1.NodeAddress{{Type: corev1.NodeInternalIP, Address: "127.0.0.1"}},
		DaemonEndpoints: corev1.NodeDaemonEndpoints{KubeletEndpoint: corev1.DaemonEndpoint{Port: port}},
		Conditions: []corev1.NodeCondition{{
			Type: corev1.NodeReady, Status: corev1.ConditionTrue, Reason: "Ready",
			LastHeartbeatTime: metav1.Now(), LastTransitionTime: metav1.Now(),
		}},
	}
	_, err = nodes.UpdateStatus(ctx, made, metav1.UpdateOptions{})
	check(err)
}

// Starts the pods that the scheduler places on a node, and ends those that are deleted.
func (n *node) follow(name string) {
	source := cache.NewListWatchFromClient(n.client.CoreV1().RESTClient(), "pods", metav1.NamespaceAll,
		fields.OneTermEqualSelector("spec.nodeName", name))
	see := func(object any) {
		pod, isPod := object.(*corev1.Pod)
		switch {
		case !isPod:
		case pod.DeletionTimestamp != nil:
			go n.end(pod)
		case n.pods.take(pod.UID):
			go n.run(pod)
		}
	}
	_, controller := cache.NewInformerWithOptions(cache.InformerOptions{
		ListerWatcher: source,
		ObjectType:    &corev1.Pod{},
		ResyncPeriod:  time.Minute,
		Handler: cache.ResourceEventHandlerFuncs{
			AddFunc:    see,
			UpdateFunc: func(_, now any) { see(now) },
		},
	})
	controller.Run(make(chan struct{}))
}

// Ends a pod's process, and then says that the pod is gone.
func (n *node) end(pod *corev1.Pod) {
	if !n.pods.stop(pod.UID) {
		return
	}
	now := int64(0)
	options := metav1.DeleteOptions{GracePeriodSeconds: &now}
	if err := n.client.CoreV1().Pods(pod.Namespace).Delete(context.Background(), pod.Name, options); err != nil {
		log.Print(pod.Name, ": ", err)
	}
	os.RemoveAll(n.podDir(pod))
}
