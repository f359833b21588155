{{/* Combinations that cannot work; each is refused with a sentence. */}}
{{- define "maintainer.checks" -}}
{{- $cluster := eq .Values.mode "cluster" -}}
{{- $kubernetes := include "maintainer.hasPods" . -}}
{{- $spark := .Values.config.spark | default dict -}}
{{- if not .Values.config.catalogs -}}
{{- fail "config.catalogs is empty: name at least one catalog, such as config.catalogs.lake.type and config.catalogs.lake.uri" -}}
{{- end -}}
{{- if and $cluster (not .Values.store.secretName) -}}
{{- fail "mode cluster has several replicas, and they cannot share SQLite: give the Secret with PostgreSQL's URL in store.secretName" -}}
{{- end -}}
{{- if and (not $cluster) (gt (int .Values.simple.replicas) 1) -}}
{{- fail (printf "simple.replicas is %d, but mode simple has one replica, because replicas cannot share its volume: use mode cluster with PostgreSQL" (int .Values.simple.replicas)) -}}
{{- end -}}
{{- range $role := list "api" "worker" -}}
{{- $autoscaling := (get $.Values $role).autoscaling -}}
{{- if and (not $cluster) $autoscaling.enabled -}}
{{- fail (printf "%s.autoscaling.enabled is true, but mode simple has one replica: use mode cluster" $role) -}}
{{- end -}}
{{- if gt (int $autoscaling.minReplicas) (int $autoscaling.maxReplicas) -}}
{{- fail (printf "%s.autoscaling.minReplicas is %d, above maxReplicas %d" $role (int $autoscaling.minReplicas) (int $autoscaling.maxReplicas)) -}}
{{- end -}}
{{- end -}}
{{- if and .Values.persistence.existingClaim (not .Values.persistence.enabled) -}}
{{- fail "persistence.existingClaim is given, but persistence.enabled is false" -}}
{{- end -}}
{{- if and $kubernetes (not (include "maintainer.linkSecret" .)) (not .Values.link.withoutTls) -}}
{{- fail "drivers that are pods reach the daemon over the link, which carries catalog secrets: give its certificate by link.secretName or link.issuer.name, or set link.withoutTls where the network itself encrypts" -}}
{{- end -}}
{{- if and (include "maintainer.linkSecret" .) .Values.link.withoutTls -}}
{{- fail "link.withoutTls is true, but link.secretName or link.issuer.name gives a certificate" -}}
{{- end -}}
{{- if and $spark.kubernetes (ne (include "maintainer.runner" .) "kubernetes") -}}
{{- fail (printf "config.spark.kubernetes is given, but the runner is %s: set config.spark.runner to kubernetes" (include "maintainer.runner" .)) -}}
{{- end -}}
{{- if .Values.jobs.inReleaseNamespace -}}
{{- if .Values.jobs.namespace.name -}}
{{- fail "jobs.inReleaseNamespace is true, but jobs.namespace.name names another namespace for drivers" -}}
{{- end -}}
{{- else if hasKey (include "maintainer.jobNamespaces" . | fromJson) .Release.Namespace -}}
{{- fail (printf "drivers would run in %s, the daemon's own namespace, and code in a driver could read the daemon's Secrets and run as the daemon: name another namespace in config.spark.kubernetes.namespace or jobs.namespace.name, or accept it by jobs.inReleaseNamespace" .Release.Namespace) -}}
{{- end -}}
{{- if .Values.gitSync.enabled -}}
{{- if or .Values.policies .Values.policyConfigMaps -}}
{{- fail "gitSync.enabled is true, and policies or policyConfigMaps are given too: the daemon reads one directory of policies" -}}
{{- end -}}
{{- range $key := list "image" "repository" -}}
{{- if not (get $.Values.gitSync $key) -}}
{{- fail (printf "gitSync.enabled is true, but gitSync.%s is empty" $key) -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- if and .Values.ingress.enabled (not .Values.ingress.host) (not .Values.ingress.hosts) -}}
{{- fail "ingress.enabled is true, but ingress.host and ingress.hosts are empty: the daemon answers only to host names that it knows" -}}
{{- end -}}
{{- if and .Values.httpRoute.enabled (or (not .Values.httpRoute.parentRefs) (not .Values.httpRoute.hostnames)) -}}
{{- fail "httpRoute.enabled is true, but httpRoute.parentRefs or httpRoute.hostnames is empty" -}}
{{- end -}}
{{- $auth := .Values.config.auth | default dict -}}
{{- if and (or .Values.ingress.enabled .Values.httpRoute.enabled (ne .Values.service.type "ClusterIP")) (not (include "maintainer.hasSignIn" .)) (not .Values.withoutSignIn) -}}
{{- fail "the page would be published without a sign-in, and everybody could start jobs: give config.auth.oidc or config.auth.tokens, or set withoutSignIn where something in front of the page asks people who they are" -}}
{{- end -}}
{{- range $kind := list "podMonitor" "serviceMonitor" -}}
{{- $monitor := get $.Values $kind -}}
{{- if and $monitor.enabled (include "maintainer.hasSignIn" $) (not $auth.open_metrics) (not $monitor.token.secretName) -}}
{{- fail (printf "%s.enabled is true and config.auth asks for a sign-in, so every scrape would be refused: give %s.token.secretName, or set config.auth.open_metrics" $kind $kind) -}}
{{- end -}}
{{- end -}}
{{- if and .Values.podMonitor.enabled .Values.serviceMonitor.enabled -}}
{{- fail "podMonitor.enabled and serviceMonitor.enabled are both true: Prometheus would read each replica twice, and sums would be double" -}}
{{- end -}}
{{- if and $cluster $auth.oidc (not $auth.session_key) -}}
{{- fail "config.auth.oidc is given without config.auth.session_key: replicas of the api would not know each other's sessions" -}}
{{- end -}}
{{- if not .Values.extraEnvFrom -}}
{{- $given := keys .Values.secretEnv -}}
{{- range .Values.extraEnv }}{{ $given = append $given .name }}{{ end -}}
{{- range regexFindAll "\\$?\\$\\{[A-Za-z_][A-Za-z0-9_]*\\}" (toYaml .Values.config) -1 -}}
{{- $name := regexFind "[A-Za-z_][A-Za-z0-9_]*" . -}}
{{- if and (not (hasPrefix "$$" .)) (not (has $name $given)) -}}
{{- fail (printf "config uses ${%s}, but nothing gives that variable: name its Secret in secretEnv.%s, or use extraEnv or extraEnvFrom" $name $name) -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- end -}}
