{{/* "kubernetes" or "process". */}}
{{- define "maintainer.runner" -}}
{{- $spark := .Values.config.spark | default dict -}}
{{- $spark.runner | default (ternary "kubernetes" "process" (eq .Values.mode "cluster")) -}}
{{- end -}}

{{- define "maintainer.jobNamespace" -}}
{{- $spark := .Values.config.spark | default dict -}}
{{- $kubernetes := $spark.kubernetes | default dict -}}
{{- $kubernetes.namespace | default .Release.Namespace -}}
{{- end -}}

{{- define "maintainer.operator" -}}
{{- $spark := .Values.config.spark | default dict -}}
{{- $kubernetes := $spark.kubernetes | default dict -}}
{{- $kubernetes.operator | default "none" -}}
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
{{- $hosts = append $hosts (printf "%s://%s" (ternary "https" "http" (ne .Values.ingress.tlsSecretName "")) .Values.ingress.host) -}}
{{- end -}}
{{- if .Values.httpRoute.enabled -}}
{{- range .Values.httpRoute.hostnames -}}
{{- $hosts = append $hosts (printf "%s://%s" (ternary "https" "http" $.Values.httpRoute.isHttps) .) -}}
{{- end -}}
{{- end -}}
{{- $_ := set $server "hosts" (concat $hosts ($server.hosts | default list) | uniq) -}}
{{- $_ := set $config "server" $server -}}
{{- $spark := $config.spark | default dict -}}
{{- $_ := set $spark "runner" (include "maintainer.runner" .) -}}
{{- if eq $spark.runner "kubernetes" -}}
{{- $given := $spark.kubernetes | default dict -}}
{{- $defaults := dict "namespace" .Release.Namespace "image" (include "maintainer.image" .) "image_pull_policy" .Values.image.pullPolicy "image_pull_secrets" (include "maintainer.pullSecrets" . | fromJsonArray) "service_account" (include "maintainer.sparkServiceAccount" .) -}}
{{- if .Values.openshift -}}
{{- $_ := set $defaults "run_as_user" nil -}}
{{- end -}}
{{- $_ := set $spark "kubernetes" (merge $given $defaults) -}}
{{- $host := printf "%s-link.%s.svc:8090" $name .Release.Namespace -}}
{{- if include "maintainer.linkSecret" . -}}
{{- $_ := set $spark "link" (dict "host" "0.0.0.0" "port" 8090 "address" (printf "https://%s" $host) "certificate" "/etc/link-tls/tls.crt" "key" "/etc/link-tls/tls.key" "authority" "/etc/link-tls/ca.crt") -}}
{{- else -}}
{{- $_ := set $spark "link" (dict "host" "0.0.0.0" "port" 8090 "address" (printf "http://%s" $host) "without_tls" true) -}}
{{- end -}}
{{- end -}}
{{- $_ := set $config "spark" $spark -}}
{{- toYaml $config -}}
{{- end -}}
