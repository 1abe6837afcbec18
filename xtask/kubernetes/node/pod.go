package main

import (
	"context"
	"fmt"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/retry"
)

// How long a process may take to end after SIGTERM.
const stopWithin = 10 * time.Second

// The processes of pods.
type pods struct {
	mutex   sync.Mutex
	known   map[types.UID]*exec.Cmd
	deleted map[types.UID]bool
}

func newPods() *pods {
	return &pods{known: map[types.UID]*exec.Cmd{}, deleted: map[types.UID]bool{}}
}

// Whether the pod is new.
func (p *pods) take(uid types.UID) bool {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	if _, known := p.known[uid]; known {
		return false
	}
	p.known[uid] = nil
	return true
}

func (p *pods) started(uid types.UID, command *exec.Cmd) {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	p.known[uid] = command
}

// Ends a pod's process; false where that was asked for before.
func (p *pods) stop(uid types.UID) bool {
	p.mutex.Lock()
	command, before := p.known[uid], p.deleted[uid]
	p.deleted[uid] = true
	p.mutex.Unlock()
	if before {
		return false
	}
	if command == nil || command.ProcessState != nil {
		return true
	}
	syscall.Kill(-command.Process.Pid, syscall.SIGTERM)
	for until := time.Now().Add(stopWithin); time.Now().Before(until); time.Sleep(50 * time.Millisecond) {
		if syscall.Kill(command.Process.Pid, 0) != nil {
			return true
		}
	}
	syscall.Kill(-command.Process.Pid, syscall.SIGKILL)
	return true
}

func (p *pods) stopAll() {
	p.mutex.Lock()
	var all []types.UID
	for uid := range p.known {
		all = append(all, uid)
	}
	p.mutex.Unlock()
	for _, uid := range all {
		p.stop(uid)
	}
}

func (n *node) podDir(pod *corev1.Pod) string { return filepath.Join(n.dir, string(pod.UID)) }

// Runs a pod's one container until it ends.
func (n *node) run(pod *corev1.Pod) {
	container := pod.Spec.Containers[0]
	program, known := n.images[container.Image]
	if !known {
		n.report(pod, corev1.PodPending, corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{
			Reason: "ErrImagePull", Message: "no such image in any registry of this node",
		}})
		return
	}
	command, err := n.prepare(pod, program)
	if err != nil {
		n.report(pod, corev1.PodPending, corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{
			Reason: "CreateContainerConfigError", Message: err.Error(),
		}})
		return
	}
	if err = command.Start(); err != nil {
		log.Print(pod.Name, ": ", err)
		return
	}
	n.pods.started(pod.UID, command)
	start := metav1.Now()
	n.report(pod, corev1.PodRunning, corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: start}})
	command.Wait()
	code := command.ProcessState.ExitCode()
	phase, reason := corev1.PodSucceeded, "Completed"
	if code != 0 {
		phase, reason = corev1.PodFailed, "Error"
	}
	n.report(pod, phase, corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{
		ExitCode: int32(code), Reason: reason, StartedAt: start, FinishedAt: metav1.Now(),
	}})
}

// Says how a pod is.
func (n *node) report(pod *corev1.Pod, phase corev1.PodPhase, state corev1.ContainerState) {
	container := pod.Spec.Containers[0]
	ready := state.Running != nil
	status := corev1.ConditionFalse
	if ready {
		status = corev1.ConditionTrue
	}
	err := retry.RetryOnConflict(retry.DefaultRetry, func() error {
		now, err := n.client.CoreV1().Pods(pod.Namespace).Get(context.Background(), pod.Name, metav1.GetOptions{})
		if err != nil {
			return err
		}
		now.Status.Phase = phase
		now.Status.PodIP, now.Status.HostIP = "127.0.0.1", "127.0.0.1"
		now.Status.PodIPs = []corev1.PodIP{{IP: "127.0.0.1"}}
		now.Status.ContainerStatuses = []corev1.ContainerStatus{{
			Name: container.Name, Image: container.Image, Ready: ready, Started: &ready, State: state,
		}}
		now.Status.Conditions = append(now.Status.Conditions, corev1.PodCondition{
			Type: corev1.PodReady, Status: status, LastTransitionTime: metav1.Now(),
		})
		_, err = n.client.CoreV1().Pods(pod.Namespace).UpdateStatus(context.Background(), now, metav1.UpdateOptions{})
		return err
	})
	if err != nil {
		log.Print(pod.Name, ": ", err)
	}
}

// The process of a pod, in a root directory that is made when it starts.
func (n *node) prepare(pod *corev1.Pod, program string) (*exec.Cmd, error) {
	container, dir := pod.Spec.Containers[0], n.podDir(pod)
	env, err := environment(pod)
	if err != nil {
		return nil, err
	}
	expand := func(text string) string {
		for name, value := range env {
			text = strings.ReplaceAll(text, "$("+name+")", value)
		}
		return text
	}
	mounts, err := n.mounts(pod, expand)
	if err != nil {
		return nil, err
	}
	if err = n.hosts(pod, filepath.Join(dir, "hosts")); err != nil {
		return nil, err
	}
	words := []string{program}
	for _, word := range container.Args {
		words = append(words, expand(word))
	}
	user := int64(0)
	if context := pod.Spec.SecurityContext; context != nil && context.RunAsUser != nil {
		user = *context.RunAsUser
	}
	script := rootScript(dir, mounts, words, user)
	command := exec.Command("unshare", "--mount", "--propagation", "private", "sh", "-euc", script)
	command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	command.Env = []string{"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"}
	for name, value := range env {
		command.Env = append(command.Env, name+"="+value)
	}
	output, err := os.Create(filepath.Join(dir, "log"))
	if err != nil {
		return nil, err
	}
	command.Stdout, command.Stderr = output, output
	return command, nil
}

// What a shell does in a mount namespace of its own: this machine's programs, read-only, the pod's volumes, and its process.
func rootScript(dir string, mounts []mount, words []string, user int64) string {
	root := filepath.Join(dir, "root")
	lines := []string{
		"mkdir -p " + quote(root),
		"mount -t tmpfs -o mode=755 tmpfs " + quote(root),
		"cd " + quote(root),
		"mkdir proc dev etc",
		"mount --rbind /proc proc",
		"mount --rbind /dev dev",
		"for d in usr bin lib lib64 opt root work; do [ -d /$d ] || continue; mkdir $d; mount --rbind -o ro /$d $d; done",
		"cp -r /etc/ssl /etc/resolv.conf /etc/nsswitch.conf etc/ 2>/dev/null || true",
		"cp " + quote(filepath.Join(dir, "hosts")) + " etc/hosts",
	}
	for _, mount := range mounts {
		target := quote(strings.TrimPrefix(mount.target, "/"))
		if mount.isFile {
			lines = append(lines, "mkdir -p $(dirname "+target+")", "touch "+target)
		} else {
			lines = append(lines, "mkdir -p "+target)
		}
		lines = append(lines, "mount --bind "+quote(mount.source)+" "+target)
	}
	lines = append(lines, "mount -o remount,ro "+quote(root))
	quoted := make([]string, len(words))
	for at, word := range words {
		quoted[at] = quote(word)
	}
	return strings.Join(append(lines,
		fmt.Sprintf("exec chroot --userspec=%d:%d %s %s", user, user, quote(root), strings.Join(quoted, " "))), "\n")
}

func quote(text string) string { return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'" }
