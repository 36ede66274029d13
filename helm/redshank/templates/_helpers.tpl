{{- define "redshank.name" -}}
{{- default .Chart.Name .Values.nameOverride | trunc 40 | trimSuffix "-" -}}
{{- end -}}

{{- define "redshank.fullname" -}}
{{- if .Values.fullnameOverride -}}
{{- .Values.fullnameOverride | trunc 40 | trimSuffix "-" -}}
{{- else if contains (include "redshank.name" .) .Release.Name -}}
{{- .Release.Name | trunc 40 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-%s" .Release.Name (include "redshank.name" .) | trunc 40 | trimSuffix "-" -}}
{{- end -}}
{{- end -}}

{{- /* Selectors never change, so neither version nor chart stands in them. */ -}}
{{- define "redshank.selector" -}}
app.kubernetes.io/name: {{ include "redshank.name" . }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{- define "redshank.labels" -}}
{{ include "redshank.selector" . }}
app.kubernetes.io/part-of: redshank
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" }}
{{- end -}}

{{- define "redshank.image" -}}
{{- $image := .Values.image -}}
{{- if $image.digest -}}
{{- printf "%s@%s" $image.repository $image.digest -}}
{{- else -}}
{{- printf "%s:%s" $image.repository (default .Chart.AppVersion $image.tag) -}}
{{- end -}}
{{- end -}}

{{- define "redshank.secretName" -}}
{{- default (include "redshank.fullname" .) .Values.existingSecret -}}
{{- end -}}

{{- define "redshank.serviceAccount" -}}
{{- if .Values.serviceAccount.create -}}
{{- default (include "redshank.fullname" .) .Values.serviceAccount.name -}}
{{- else -}}
{{- default "default" .Values.serviceAccount.name -}}
{{- end -}}
{{- end -}}

{{- /* How many nodes there are at least. */ -}}
{{- define "redshank.fewestNodes" -}}
{{- $node := .Values.node -}}
{{- ternary $node.replicas $node.autoscaling.minReplicas (eq $node.autoscaling.kind "none") -}}
{{- end -}}

{{- /* A variable of the Secret's: (dict "root" $ "variable" NAME "key" NAME). */ -}}
{{- define "redshank.secretVariable" -}}
- name: {{ .variable }}
  valueFrom:
    secretKeyRef:
      name: {{ include "redshank.secretName" .root }}
      key: {{ index .root.Values.existingSecretKeys .key }}
{{- end -}}

{{- define "redshank.storesEnvironment" -}}
{{ include "redshank.secretVariable" (dict "root" . "variable" "REDSHANK_DATABASE__URL" "key" "databaseUrl") }}
{{ include "redshank.secretVariable" (dict "root" . "variable" "REDSHANK_REDIS__URL" "key" "redisUrl") }}
{{- end -}}

{{- define "redshank.serviceSecretVariable" -}}
{{- if .Values.gateway.enabled -}}
{{ include "redshank.secretVariable" (dict "root" . "variable" "REDSHANK_SLOT__GATEWAY_SERVICE" "key" "serviceSecret") }}
{{- end -}}
{{- end -}}

{{- /* Whether somebody asks consoles for their figures: "true" or nothing. */ -}}
{{- define "redshank.scraped" -}}
{{- $scaling := .Values.node.autoscaling -}}
{{- if or .Values.serviceMonitor.enabled (and (eq $scaling.kind "keda") (not $scaling.prometheusAddress)) -}}
true
{{- end -}}
{{- end -}}

{{- /* What changes with a settings' change, so that pods start anew. */ -}}
{{- define "redshank.checksums" -}}
checksum/settings: {{ include (print .Template.BasePath "/settings.yaml") . | sha256sum }}
checksum/secret: {{ include (print .Template.BasePath "/secret.yaml") . | sha256sum }}
{{- end -}}

{{- /* What every pod has in common: (dict "root" $ "part" .Values.PART "component" NAME). */ -}}
{{- define "redshank.podRules" -}}
serviceAccountName: {{ include "redshank.serviceAccount" .root }}
# Neither we nor an agent's command has any business with the cluster's API.
automountServiceAccountToken: false
enableServiceLinks: false
{{- with .root.Values.image.pullSecrets }}
imagePullSecrets:
  {{- range . }}
  - name: {{ . }}
  {{- end }}
{{- end }}
securityContext:
  runAsNonRoot: true
  runAsUser: 10001
  runAsGroup: 10001
  fsGroup: 10001
  fsGroupChangePolicy: OnRootMismatch
  seccompProfile:
    type: RuntimeDefault
{{- if .part }}
topologySpreadConstraints:
  - maxSkew: 1
    topologyKey: kubernetes.io/hostname
    whenUnsatisfiable: ScheduleAnyway
    labelSelector:
      matchLabels:
        {{- include "redshank.selector" .root | nindent 8 }}
        app.kubernetes.io/component: {{ .component }}
{{- with .part.nodeSelector }}
nodeSelector:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .part.tolerations }}
tolerations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .part.affinity }}
affinity:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}
{{- end -}}

{{- define "redshank.containerRules" -}}
image: {{ include "redshank.image" . }}
imagePullPolicy: {{ .Values.image.pullPolicy }}
securityContext:
  allowPrivilegeEscalation: false
  readOnlyRootFilesystem: true
  capabilities:
    drop: [ALL]
{{- end -}}

{{- define "redshank.scratchMounts" -}}
- name: tmp
  mountPath: /tmp
- name: home
  mountPath: /home/redshank
{{- end -}}

{{- define "redshank.scratchVolumes" -}}
- name: tmp
  emptyDir: {}
- name: home
  emptyDir: {}
{{- end -}}

{{- define "redshank.monitorable" -}}
{{- with .Values.networkPolicy.metricsFrom -}}
- from:
    {{- toYaml . | nindent 4 }}
  ports:
    - port: http
{{- end -}}
{{- end -}}

{{- define "redshank.lookUpNames" -}}
- ports:
    - port: 53
      protocol: UDP
    - port: 53
      protocol: TCP
{{- end -}}

{{- /* Which ports the stores have: an existing Secret hides them, so the values say. */ -}}
{{- define "redshank.reachStores" -}}
- ports:
    - port: {{ .Values.database.port }}
  {{- with .Values.networkPolicy.databaseTo }}
  to:
    {{- toYaml . | nindent 4 }}
  {{- end }}
- ports:
    - port: {{ .Values.redis.port }}
  {{- with .Values.networkPolicy.redisTo }}
  to:
    {{- toYaml . | nindent 4 }}
  {{- end }}
{{- end -}}
