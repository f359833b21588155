{{/* "kubernetes" or "process". */}}
{{- define "maintainer.runner" -}}
{{- $spark := .Values.config.spark | default dict -}}
{{- $spark.runner | default (ternary "kubernetes" "process" (eq .Values.mode "cluster")) -}}
{{- end -}}

{{/* The hosts of the Ingress, as a JSON list: host, scheme (how browsers reach it) and paths. */}}
{{- define "maintainer.ingressHosts" -}}
{{- $ingress := .Values.ingress -}}
{{- $default := list (dict "path" (include "maintainer.prefix" . | default "/") "pathType" $ingress.pathType) -}}
{{- $hosts := $ingress.hosts -}}
{{- if $ingress.host }}{{ $hosts = prepend $hosts (dict "host" $ingress.host) }}{{ end -}}
{{- $found := list -}}
{{- range $one := $hosts -}}
{{- $isHttps := or $ingress.isHttps (and $ingress.tlsSecretName (eq .host $ingress.host)) -}}
{{- range $ingress.tls }}{{ $isHttps = or $isHttps (not .hosts) (has $one.host .hosts) }}{{ end -}}
{{- $found = append $found (dict "host" .host "scheme" (ternary "https" "http" (not (not $isHttps))) "paths" (.paths | default $default)) -}}
{{- end -}}
{{- toJson $found -}}
{{- end -}}

{{/* "true" if the API asks for a sign-in. */}}
{{- define "maintainer.hasSignIn" -}}
{{- $auth := .Values.config.auth | default dict -}}
{{- if or $auth.tokens $auth.oidc }}true{{ end -}}
{{- end -}}

{{/* The path below which the page is published; empty for the root. */}}
{{- define "maintainer.prefix" -}}
{{- (.Values.config.server | default dict).prefix | default "" | trimSuffix "/" -}}
{{- end -}}

{{/* The namespace of drivers where the configuration names none. */}}
{{- define "maintainer.jobsNamespace" -}}
{{- if .Values.jobs.inReleaseNamespace -}}
{{- .Release.Namespace -}}
{{- else -}}
{{- .Values.jobs.namespace.name | default (printf "%s-jobs" (.Release.Namespace | trunc 58 | trimSuffix "-")) -}}
{{- end -}}
{{- end -}}

{{/* The pools whose drivers are pods, as a JSON object: the name of each, and its section kubernetes. */}}
{{- define "maintainer.podPools" -}}
{{- $spark := .Values.config.spark | default dict -}}
{{- $runner := include "maintainer.runner" . -}}
{{- $defaults := dict "namespace" (include "maintainer.jobsNamespace" .) "image" (include "maintainer.image" .) "image_pull_policy" .Values.image.pullPolicy "image_pull_secrets" (include "maintainer.pullSecrets" . | fromJsonArray) "operator" "none" -}}
{{- $found := dict -}}
{{- $common := dict -}}
{{- if eq $runner "kubernetes" -}}
{{- $common = $spark.kubernetes | default dict -}}
{{- $_ := set $found "default" (merge dict $common $defaults) -}}
{{- end -}}
{{- range $name, $pool := $spark.pools | default dict -}}
{{- if eq ($pool.runner | default $runner) "kubernetes" -}}
{{- $_ := set $found $name (merge dict ($pool.kubernetes | default dict) $common $defaults) -}}
{{- end -}}
{{- end -}}
{{- toJson $found -}}
{{- end -}}

{{/* "true" if drivers are pods. */}}
{{- define "maintainer.hasPods" -}}
{{- if include "maintainer.podPools" . | fromJson }}true{{ end -}}
{{- end -}}

{{/* The namespaces of drivers, as a JSON object: the operators of each, sorted. */}}
{{- define "maintainer.jobNamespaces" -}}
{{- $found := dict -}}
{{- range include "maintainer.podPools" . | fromJson -}}
{{- $_ := set $found .namespace (append (get $found .namespace | default list) .operator | uniq | sortAlpha) -}}
{{- end -}}
{{- toJson $found -}}
{{- end -}}

{{- define "maintainer.policyDirectory" -}}
{{- if .Values.gitSync.enabled -}}
{{- printf "/git/current/%s" .Values.gitSync.path | trimSuffix "/" -}}
{{- else -}}
/etc/policies
{{- end -}}
{{- end -}}

{{/* maintainer.yaml: what the user wrote, with what the chart knows. */}}
{{- define "maintainer.config" -}}
{{- $name := include "maintainer.fullname" . -}}
{{- $config := deepCopy .Values.config -}}
{{- $_ := set $config "policies" (include "maintainer.policyDirectory" .) -}}
{{- if not .Values.store.secretName -}}
{{- $_ := set $config "store" "sqlite:////var/lib/maintainer/maintainer.db" -}}
{{- end -}}
{{- $server := $config.server | default dict -}}
{{- $hosts := list $name (printf "%s.%s" $name .Release.Namespace) (printf "%s.%s.svc" $name .Release.Namespace) (printf "%s.%s.svc.cluster.local" $name .Release.Namespace) -}}
{{- if .Values.ingress.enabled -}}
{{- range include "maintainer.ingressHosts" . | fromJsonArray -}}
{{- $hosts = append $hosts (printf "%s://%s" .scheme .host) -}}
{{- end -}}
{{- end -}}
{{- if .Values.httpRoute.enabled -}}
{{- range .Values.httpRoute.hostnames -}}
{{- $hosts = append $hosts (printf "%s://%s" (ternary "https" "http" $.Values.httpRoute.isHttps) .) -}}
{{- end -}}
{{- end -}}
{{- $_ := set $server "hosts" (concat $hosts ($server.hosts | default list) | uniq) -}}
{{- $_ := set $server "probes_port" 8091 -}}
{{- $_ := set $config "server" $server -}}
{{- $spark := $config.spark | default dict -}}
{{- $_ := set $spark "runner" (include "maintainer.runner" .) -}}
{{- $link := dict "host" "0.0.0.0" "port" 8090 -}}
{{- $host := printf "%s-link.%s.svc:8090" $name .Release.Namespace -}}
{{- if include "maintainer.linkSecret" . -}}
{{- $_ := merge $link (dict "address" (printf "https://%s" $host) "certificate" "/etc/link-tls/tls.crt" "key" "/etc/link-tls/tls.key" "authority" "/etc/link-tls/ca.crt") -}}
{{- else -}}
{{- $_ := merge $link (dict "address" (printf "http://%s" $host) "without_tls" true) -}}
{{- end -}}
{{- range $pool, $kubernetes := include "maintainer.podPools" . | fromJson -}}
{{- $_ := set $kubernetes "service_account" (include "maintainer.sparkServiceAccount" $) -}}
{{- if $.Values.openshift -}}
{{- $_ := set $kubernetes "run_as_user" "cluster" -}}
{{- end -}}
{{- $section := ternary $spark (get ($spark.pools | default dict) $pool) (and (eq $pool "default") (eq $spark.runner "kubernetes")) -}}
{{- $_ := set $section "kubernetes" $kubernetes -}}
{{- $_ := set $section "link" $link -}}
{{- end -}}
{{- $_ := set $config "spark" $spark -}}
{{- toYaml $config -}}
{{- end -}}
