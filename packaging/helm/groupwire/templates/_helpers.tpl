{{- define "groupwire.name" -}}
{{- default .Chart.Name .Values.nameOverride | trunc 40 | trimSuffix "-" }}
{{- end }}

{{/* Short enough for the names of pods, which are the names of the servers. */}}
{{- define "groupwire.fullname" -}}
{{- $name := include "groupwire.name" . }}
{{- $release := ternary .Release.Name (printf "%s-%s" .Release.Name $name) (contains $name .Release.Name) }}
{{- default $release .Values.fullnameOverride | trunc 45 | trimSuffix "-" }}
{{- end }}

{{- define "groupwire.headless" -}}
{{ include "groupwire.fullname" . }}-headless
{{- end }}

{{- define "groupwire.clusterSecret" -}}
{{ .Values.cluster.secret.existingSecret | default (printf "%s-cluster" (include "groupwire.fullname" .)) }}
{{- end }}

{{- define "groupwire.selector" -}}
app.kubernetes.io/name: {{ include "groupwire.name" . }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "groupwire.labels" -}}
{{ include "groupwire.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ .Chart.Name }}-{{ .Chart.Version }}
{{- end }}

{{- define "groupwire.toml" -}}
{{- /* Texts, numbers, true, false and lists of them are written alike in JSON and TOML. */ -}}
{{- range $key, $value := .Values.config }}
{{ $key }} = {{ $value | toRawJson }}
{{- end }}
{{- end }}

{{- define "groupwire.image" -}}
{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}
{{- end }}

{{- define "groupwire.containerSecurity" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities: { drop: [ALL] }
{{- end }}
