{{/* Where the token of the service account is needed: where drivers are started as pods, and where policies that are resources are read. */}}
{{- define "maintainer.needsToken" -}}
{{- if or .root.Values.config.kubernetes_policies (and (include "maintainer.hasPods" .root) (ne .role "api")) }}true{{ end -}}
{{- end -}}

{{- define "maintainer.podSecurity" -}}
{{- $user := dict "runAsUser" 10001 "runAsGroup" 10001 "fsGroup" 10001 "fsGroupChangePolicy" "OnRootMismatch" -}}
{{- $default := dict "runAsNonRoot" true "seccompProfile" (dict "type" "RuntimeDefault") -}}
{{- toYaml (merge (deepCopy .Values.podSecurityContext) $default (ternary dict $user .Values.openshift)) -}}
{{- end -}}

{{- define "maintainer.containerSecurity" -}}
{{- $default := dict "allowPrivilegeEscalation" false "readOnlyRootFilesystem" true "capabilities" (dict "drop" (list "ALL")) -}}
{{- toYaml (merge (deepCopy .Values.securityContext) $default) -}}
{{- end -}}

{{/* The values of a role of mode cluster, or none; takes root, and role. */}}
{{- define "maintainer.role" -}}
{{- toJson (ternary (get .root.Values (.role | default "all")) dict (has .role (list "api" "worker"))) -}}
{{- end -}}

{{/* The variables of every container with the daemon's program; takes root, and optionally role. */}}
{{- define "maintainer.env" -}}
{{- $own := include "maintainer.role" . | fromJson -}}
{{- with .root -}}
env:
  - {name: MAINTAINER_CONFIG, value: /etc/maintainer/maintainer.yaml}
  - {name: MAINTAINER_SERVER__HOST, value: {{ (.Values.config.server | default dict).host | default "0.0.0.0" | quote }}}
  {{- if .Values.store.secretName }}
  - name: MAINTAINER_STORE
    valueFrom: {secretKeyRef: {name: {{ .Values.store.secretName }}, key: {{ .Values.store.key }}}}
  {{- end }}
  {{- range $name, $from := .Values.secretEnv }}
  - name: {{ $name }}
    valueFrom: {secretKeyRef: {name: {{ $from.secretName }}, key: {{ $from.key }}}}
  {{- end }}
  {{- with concat .Values.extraEnv ($own.extraEnv | default list) }}{{ toYaml . | nindent 2 }}{{ end }}
{{- with .Values.extraEnvFrom }}
envFrom: {{- toYaml . | nindent 2 }}
{{- end }}
{{- end -}}
{{- end -}}

{{/* On which nodes every pod of this chart may run, hooks too, and how it finds names; takes root, and optionally role. */}}
{{- define "maintainer.placement" -}}
{{- $values := .root.Values -}}
{{- $own := include "maintainer.role" . | fromJson -}}
{{- range $key := list "priorityClassName" "runtimeClassName" "dnsPolicy" }}
{{- with get $values $key }}
{{ $key }}: {{ . }}
{{- end }}
{{- end }}
{{- range $key := list "nodeSelector" "tolerations" "dnsConfig" "hostAliases" }}
{{- with get $own $key | default (get $values $key) }}
{{ $key }}: {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}
{{- end -}}

{{- define "maintainer.gitSync" -}}
image: {{ .root.Values.gitSync.image }}
args:
  - --repo={{ .root.Values.gitSync.repository }}
  - --ref={{ .root.Values.gitSync.ref }}
  - --root=/git
  - --link=current
  - --depth=1
  - --period={{ .root.Values.gitSync.period }}
  - --one-time={{ .once }}
{{- if .root.Values.gitSync.secretName }}
env:
  - name: GITSYNC_USERNAME
    valueFrom: {secretKeyRef: {name: {{ .root.Values.gitSync.secretName }}, key: username, optional: true}}
  - name: GITSYNC_PASSWORD
    valueFrom: {secretKeyRef: {name: {{ .root.Values.gitSync.secretName }}, key: password, optional: true}}
{{- end }}
securityContext: {{- include "maintainer.containerSecurity" .root | nindent 2 }}
{{- with .root.Values.gitSync.resources }}
resources: {{- toYaml . | nindent 2 }}
{{- end }}
volumeMounts:
  - {name: git, mountPath: /git}
  - {name: tmp, mountPath: /tmp}
{{- end -}}

{{/* A pod of the daemon; takes root, and role: all, api or worker. */}}
{{- define "maintainer.pod" -}}
{{- $values := .root.Values -}}
{{- $name := include "maintainer.fullname" .root -}}
{{- $own := include "maintainer.role" . | fromJson -}}
{{- $link := and (include "maintainer.hasPods" .root) (ne .role "api") -}}
metadata:
  {{- /* Nothing that changes with each version of the chart, so that pods are replaced only when they must be. */}}
  labels: {{- include "maintainer.selector" .root | nindent 4 }}
    app.kubernetes.io/component: {{ .role }}
    {{- with merge (deepCopy ($own.podLabels | default dict)) $values.podLabels }}{{ toYaml . | nindent 4 }}{{ end }}
  annotations:
    checksum/config: {{ include "maintainer.config" .root | sha256sum }}
    {{- with merge (deepCopy ($own.podAnnotations | default dict)) $values.podAnnotations }}{{ toYaml . | nindent 4 }}{{ end }}
spec:
  serviceAccountName: {{ include (ternary "maintainer.apiServiceAccount" "maintainer.serviceAccount" (eq .role "api")) .root }}
  automountServiceAccountToken: {{ eq (include "maintainer.needsToken" .) "true" }}
  enableServiceLinks: false
  {{- with include "maintainer.pullSecrets" .root | fromJsonArray }}
  imagePullSecrets: {{- range . }}{{ printf "\n    - name: %s" . }}{{ end }}
  {{- end }}
  {{- /* The drain, then 30 s for cancelled jobs, 5 s for steps, 6 s for open answers. */}}
  terminationGracePeriodSeconds: {{ add 45 (include "maintainer.seconds" ($values.config.drain_timeout | default "1m")) }}
  securityContext: {{- include "maintainer.podSecurity" .root | nindent 4 }}
  {{- include "maintainer.placement" . | nindent 2 }}
  {{- if $values.affinity }}
  affinity: {{- toYaml $values.affinity | nindent 4 }}
  {{- else if ne .role "all" }}
  affinity:
    podAntiAffinity:
      preferredDuringSchedulingIgnoredDuringExecution:
        - weight: 100
          podAffinityTerm:
            topologyKey: kubernetes.io/hostname
            labelSelector:
              matchLabels: {{- include "maintainer.selector" .root | nindent 16 }}
                app.kubernetes.io/component: {{ .role }}
  {{- end }}
  {{- if $values.topologySpreadConstraints }}
  topologySpreadConstraints: {{- toYaml $values.topologySpreadConstraints | nindent 4 }}
  {{- else if ne .role "all" }}
  topologySpreadConstraints:
    - maxSkew: 1
      topologyKey: topology.kubernetes.io/zone
      whenUnsatisfiable: ScheduleAnyway
      labelSelector:
        matchLabels: {{- include "maintainer.selector" .root | nindent 10 }}
          app.kubernetes.io/component: {{ .role }}
  {{- end }}
  {{- if or $values.gitSync.enabled $values.initContainers (ne .role "all") }}
  initContainers:
    {{- /* First: a native sidecar may be the way to the store. */}}
    {{- with $values.initContainers }}{{ toYaml . | nindent 4 }}{{ end }}
    {{- if ne .role "all" }}
    {{- /* One pod migrates, and others wait for its lock. */}}
    - name: {{ ternary "migrate" "wait-for-schema" (eq $values.migration "init") }}
      image: {{ include "maintainer.image" .root }}
      imagePullPolicy: {{ $values.image.pullPolicy }}
      args: [store, {{ ternary "migrate" "wait" (eq $values.migration "init") }}]
      {{- include "maintainer.env" . | nindent 6 }}
      resources: {{- toYaml .resources | nindent 8 }}
      securityContext: {{- include "maintainer.containerSecurity" .root | nindent 8 }}
      volumeMounts: {{- include "maintainer.mounts" . | nindent 8 }}
    {{- end }}
    {{- if $values.gitSync.enabled }}
    - name: git-sync-once
      {{- include "maintainer.gitSync" (dict "root" .root "once" true) | nindent 6 }}
    {{- end }}
  {{- end }}
  containers:
    - name: maintainer
      image: {{ include "maintainer.image" .root }}
      imagePullPolicy: {{ $values.image.pullPolicy }}
      args: [serve, --role, {{ .role }}]
      {{- include "maintainer.env" . | nindent 6 }}
      ports:
        - {name: http, containerPort: 8080}
        - {name: probes, containerPort: 8091}
        {{- if $link }}
        - {name: link, containerPort: 8090}
        {{- end }}
      {{- if eq .role "api" }}
      {{- /* Proxies learn of a pod's end later than the pod itself: until then it goes on answering. */}}
      lifecycle:
        preStop:
          exec: {command: [sleep, "5"]}
      {{- end }}
      startupProbe:
        httpGet: {path: /livez, port: probes}
        periodSeconds: 5
        timeoutSeconds: 5
        failureThreshold: {{ div (add $values.startupSeconds 4) 5 }}
      livenessProbe:
        httpGet: {path: /livez, port: probes}
        periodSeconds: 20
        timeoutSeconds: 10
        failureThreshold: 6
      readinessProbe:
        httpGet: {path: /readyz, port: probes}
        periodSeconds: 10
        timeoutSeconds: 10
        failureThreshold: 3
      resources: {{- toYaml .resources | nindent 8 }}
      securityContext: {{- include "maintainer.containerSecurity" .root | nindent 8 }}
      volumeMounts: {{- include "maintainer.mounts" . | nindent 8 }}
    {{- if $values.gitSync.enabled }}
    - name: git-sync
      {{- include "maintainer.gitSync" (dict "root" .root "once" false) | nindent 6 }}
    {{- end }}
    {{- with $values.sidecars }}{{ toYaml . | nindent 4 }}{{ end }}
  volumes: {{- include "maintainer.volumes" . | nindent 4 }}
{{- end -}}

{{/* Takes root and role. */}}
{{- define "maintainer.mounts" -}}
- {name: config, mountPath: /etc/maintainer, readOnly: true}
{{- if .root.Values.gitSync.enabled }}
- {name: git, mountPath: /git, readOnly: true}
{{- else }}
- {name: policies, mountPath: /etc/policies, readOnly: true}
{{- end }}
{{- if include "maintainer.mountsLink" . }}
- {name: link-tls, mountPath: /etc/link-tls, readOnly: true}
{{- end }}
- {name: data, mountPath: /var/lib/maintainer}
- {name: tmp, mountPath: /tmp}
{{- with .root.Values.extraVolumeMounts }}
{{ toYaml . }}
{{- end }}
{{- end -}}

{{- define "maintainer.mountsLink" -}}
{{- if and (include "maintainer.hasPods" .root) (include "maintainer.linkSecret" .root) }}true{{ end -}}
{{- end -}}

{{/* Takes root, role, and optionally claim. */}}
{{- define "maintainer.volumes" -}}
{{- $values := .root.Values -}}
{{- $name := include "maintainer.fullname" .root -}}
- name: config
  configMap: {name: {{ $name }}}
{{- if $values.gitSync.enabled }}
- name: git
  emptyDir: {}
{{- else }}
- name: policies
  projected:
    sources:
      - configMap: {name: {{ $name }}-policies}
      {{- range $values.policyConfigMaps }}
      - configMap: {name: {{ . }}, optional: true}
      {{- end }}
{{- end }}
{{- if include "maintainer.mountsLink" . }}
- name: link-tls
  secret:
    secretName: {{ include "maintainer.linkSecret" .root }}
    defaultMode: 0440
    {{- if eq .role "api" }}
    items: [{key: ca.crt, path: ca.crt}]
    {{- end }}
{{- end }}
- name: data
  {{- if .claim }}
  persistentVolumeClaim: {claimName: {{ .claim }}}
  {{- else }}
  emptyDir: {}
  {{- end }}
- name: tmp
  emptyDir: {}
{{- with $values.extraVolumes }}
{{ toYaml . }}
{{- end }}
{{- end -}}
