{{- define "maintainer.name" -}}
{{- default .Chart.Name .Values.nameOverride | trunc 40 | trimSuffix "-" -}}
{{- end -}}

{{/* The beginning of all names; the longest ending has 20 characters, and a label has room for 63. */}}
{{- define "maintainer.fullname" -}}
{{- if .Values.fullnameOverride -}}
{{- .Values.fullnameOverride | trunc 43 | trimSuffix "-" -}}
{{- else if contains (include "maintainer.name" .) .Release.Name -}}
{{- .Release.Name | trunc 43 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-%s" .Release.Name (include "maintainer.name" .) | trunc 43 | trimSuffix "-" -}}
{{- end -}}
{{- end -}}

{{- define "maintainer.selector" -}}
app.kubernetes.io/name: {{ include "maintainer.name" . }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{/* Of the pod of helm test: without the labels that the NetworkPolicies of the daemon select. */}}
{{- define "maintainer.testLabels" -}}
app.kubernetes.io/name: {{ include "maintainer.name" . }}
app.kubernetes.io/component: test
{{- end -}}

{{/* "true" if a hook migrates the store. */}}
{{- define "maintainer.hasMigrationJob" -}}
{{- if and (eq .Values.mode "cluster") (eq .Values.migration "job") }}true{{ end -}}
{{- end -}}

{{/* The annotations of what the migration needs before any object of the release exists. */}}
{{- define "maintainer.hook" -}}
helm.sh/hook: pre-install,pre-upgrade
helm.sh/hook-delete-policy: before-hook-creation,hook-succeeded
{{- end -}}

{{- define "maintainer.labels" -}}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" | trunc 63 }}
{{ include "maintainer.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
{{- with .Values.commonLabels }}
{{ toYaml . }}
{{- end }}
{{- end -}}

{{/* metadata of an object; takes root, and optionally name, annotations and namespace. */}}
{{- define "maintainer.metadata" -}}
name: {{ .name | default (include "maintainer.fullname" .root) }}
namespace: {{ .namespace | default .root.Release.Namespace }}
labels: {{- include "maintainer.labels" .root | nindent 2 }}
{{- with .labels }}{{ toYaml . | nindent 2 }}{{ end }}
{{- with merge (deepCopy (.annotations | default dict)) .root.Values.commonAnnotations }}
annotations: {{- toYaml . | nindent 2 }}
{{- end }}
{{- end -}}

{{- define "maintainer.image" -}}
{{- $image := .Values.image -}}
{{- with .Values.global.imageRegistry | default $image.registry }}{{ trimSuffix "/" . }}/{{ end -}}
{{- $image.repository -}}
{{- if $image.digest }}@{{ $image.digest }}{{ else }}:{{ $image.tag | default .Chart.AppVersion }}{{ end -}}
{{- end -}}

{{/* The names of the Secrets for registries, as a JSON list. */}}
{{- define "maintainer.pullSecrets" -}}
{{- $names := list -}}
{{- range concat .Values.global.imagePullSecrets .Values.imagePullSecrets -}}
{{- $names = append $names (kindIs "string" . | ternary . (get (kindIs "map" . | ternary . dict) "name")) -}}
{{- end -}}
{{- uniq $names | toJson -}}
{{- end -}}

{{- define "maintainer.serviceAccount" -}}
{{- .Values.serviceAccount.name | default (ternary (include "maintainer.fullname" .) "default" .Values.serviceAccount.create) -}}
{{- end -}}

{{- define "maintainer.apiServiceAccount" -}}
{{- .Values.apiServiceAccount.name | default (ternary (printf "%s-api" (include "maintainer.fullname" .)) "default" .Values.apiServiceAccount.create) -}}
{{- end -}}

{{/* The account of the migration, which runs before any object of the release exists. */}}
{{- define "maintainer.hookServiceAccount" -}}
{{- $account := .Values.hooks.serviceAccount -}}
{{- $account.name | default (ternary (printf "%s-migrate" (include "maintainer.fullname" .)) "default" $account.create) -}}
{{- end -}}

{{- define "maintainer.sparkServiceAccount" -}}
{{- .Values.sparkServiceAccount.name | default (ternary (printf "%s-spark" (include "maintainer.fullname" .)) "default" .Values.sparkServiceAccount.create) -}}
{{- end -}}

{{/* The Secret with the link's certificate; empty without TLS. */}}
{{- define "maintainer.linkSecret" -}}
{{- if .Values.link.secretName -}}
{{- .Values.link.secretName -}}
{{- else if .Values.link.issuer.name -}}
{{- include "maintainer.fullname" . }}-link-tls
{{- end -}}
{{- end -}}

{{/* A duration of the daemon, such as 1h30m, in whole seconds. */}}
{{- define "maintainer.seconds" -}}
{{- $units := dict "ms" 0.001 "s" 1.0 "m" 60.0 "h" 3600.0 "d" 86400.0 "w" 604800.0 -}}
{{- $sum := 0.0 -}}
{{- range regexFindAll "[0-9]+(\\.[0-9]+)?\\s*(ms|s|m|h|d|w)" . -1 -}}
{{- $unit := regexFind "[a-z]+$" . -}}
{{- $sum = addf $sum (mulf (regexFind "^[0-9.]+" . | float64) (get $units $unit)) -}}
{{- end -}}
{{- ceil $sum | int -}}
{{- end -}}
