package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// A file or a folder of this machine that a pod sees.
type mount struct {
	source, target string
	isFile         bool
}

// The variables of a container; those of the downward API are labels and annotations.
func environment(pod *corev1.Pod) (map[string]string, error) {
	env := map[string]string{}
	for _, variable := range pod.Spec.Containers[0].Env {
		value := variable.Value
		if from := variable.ValueFrom; from != nil {
			if from.FieldRef == nil {
				return nil, fmt.Errorf("the variable %s is of a kind that this node lacks", variable.Name)
			}
			kind, key, _ := strings.Cut(strings.TrimSuffix(from.FieldRef.FieldPath, "']"), "['")
			switch kind {
			case "metadata.labels":
				value = pod.Labels[key]
			case "metadata.annotations":
				value = pod.Annotations[key]
			default:
				return nil, fmt.Errorf("the field %s is one that this node lacks", from.FieldRef.FieldPath)
			}
		}
		env[variable.Name] = value
	}
	return env, nil
}

// Writes the pod's volumes to disk.
func (n *node) mounts(pod *corev1.Pod, expand func(string) string) ([]mount, error) {
	dirs := map[string]string{}
	for _, volume := range pod.Spec.Volumes {
		dir := filepath.Join(n.podDir(pod), "volumes", volume.Name)
		if err := os.MkdirAll(dir, 0o777); err != nil {
			return nil, err
		}
		os.Chmod(dir, 0o777)
		dirs[volume.Name] = dir
		switch {
		case volume.EmptyDir != nil:
		case volume.Secret != nil:
			if err := n.writeSecret(pod, volume.Secret, dir); err != nil {
				return nil, err
			}
		default:
			return nil, fmt.Errorf("the volume %s is of a kind that this node lacks", volume.Name)
		}
	}
	var mounts []mount
	for _, mounted := range pod.Spec.Containers[0].VolumeMounts {
		path := filepath.Join(dirs[mounted.Name], expand(mounted.SubPathExpr))
		info, err := os.Stat(path)
		if err != nil {
			return nil, err
		}
		mounts = append(mounts, mount{path, mounted.MountPath, !info.IsDir()})
	}
	return mounts, nil
}

// The files of a Secret, for the pod's group alone.
func (n *node) writeSecret(pod *corev1.Pod, source *corev1.SecretVolumeSource, dir string) error {
	secret, err := n.client.CoreV1().Secrets(pod.Namespace).Get(context.Background(), source.SecretName, metav1.GetOptions{})
	if err != nil {
		return err
	}
	for name, bytes := range secret.Data {
		path := filepath.Join(dir, name)
		if err = os.WriteFile(path, bytes, os.FileMode(*source.DefaultMode)); err != nil {
			return err
		}
		if context := pod.Spec.SecurityContext; context != nil && context.FSGroup != nil {
			if err = os.Chown(path, 0, int(*context.FSGroup)); err != nil {
				return err
			}
		}
	}
	return nil
}

// The names of the namespace's services: each leads to this machine.
func (n *node) hosts(pod *corev1.Pod, path string) error {
	services, err := n.client.CoreV1().Services(pod.Namespace).List(context.Background(), metav1.ListOptions{})
	if err != nil {
		return err
	}
	lines := []string{"127.0.0.1 localhost"}
	for _, service := range services.Items {
		lines = append(lines, fmt.Sprintf("127.0.0.1 %s %s.%s.svc", service.Name, service.Name, service.Namespace))
	}
	return os.WriteFile(path, []byte(strings.Join(lines, "\n")+"\n"), 0o644)
}
