//! What the profile "restricted" of the Pod Security Standards asks of pods and containers.

use k8s_openapi::api::core::v1::{
    Capabilities, PodSecurityContext, SeccompProfile, SecurityContext, Sysctl,
};

/// A user without a name, as in distroless images.
pub const USER: i64 = 65532;

/// Of a pod: no root, the runtime's filter of system calls. A cluster that gives each namespace users of its own (OpenShift) refuses
/// any other: without a user it chooses one.
pub(crate) fn of_pod(user: Option<i64>, sysctls: &[(&str, &str)]) -> PodSecurityContext {
    let sysctls: Vec<Sysctl> = sysctls
        .iter()
        .map(|(name, value)| Sysctl { name: (*name).to_owned(), value: (*value).to_owned() })
        .collect();
    PodSecurityContext {
        run_as_non_root: Some(true),
        run_as_user: user,
        run_as_group: user,
        fs_group: user,
        seccomp_profile: Some(SeccompProfile {
            type_: "RuntimeDefault".to_owned(),
            ..SeccompProfile::default()
        }),
        sysctls: (!sysctls.is_empty()).then_some(sysctls),
        ..PodSecurityContext::default()
    }
}

/// Of a container: no more rights, no capabilities, no writing to its image.
pub(crate) fn of_container() -> SecurityContext {
    SecurityContext {
        allow_privilege_escalation: Some(false),
        read_only_root_filesystem: Some(true),
        capabilities: Some(Capabilities {
            drop: Some(vec!["ALL".to_owned()]),
            ..Capabilities::default()
        }),
        ..SecurityContext::default()
    }
}
