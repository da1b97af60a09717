{{- define "waybridge.labels" -}}
app.kubernetes.io/name: waybridge
app.kubernetes.io/instance: {{ .root.Release.Name }}
app.kubernetes.io/component: {{ .component }}
{{- end }}

{{- /* Name and labels of an object: root, component, and name if it is not that of the component. */}}
{{- define "waybridge.metadata" -}}
name: {{ .root.Release.Name }}-{{ .name | default .component }}
labels: {{- include "waybridge.labels" . | nindent 2 }}
{{- end }}

{{- define "waybridge.podSecurity" -}}
runAsNonRoot: true
runAsUser: {{ .user }}
runAsGroup: {{ .group }}
fsGroup: {{ .group }}
seccompProfile: { type: RuntimeDefault }
{{- end }}

{{- define "waybridge.containerSecurity" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities: { drop: [ALL] }
{{- end }}

{{- /* What all pods have: root, component, user, group. */}}
{{- define "waybridge.podCommon" -}}
automountServiceAccountToken: false
securityContext: {{- include "waybridge.podSecurity" . | nindent 2 }}
{{- with .root.Values.imagePullSecrets }}
imagePullSecrets: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .root.Values.nodeSelector }}
nodeSelector: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .root.Values.tolerations }}
tolerations: {{- toYaml . | nindent 2 }}
{{- end }}
affinity:
  {{- with .root.Values.affinity }}
  {{- toYaml . | nindent 2 }}
  {{- else }}
  podAntiAffinity:
    preferredDuringSchedulingIgnoredDuringExecution:
      - weight: 100
        podAffinityTerm:
          topologyKey: kubernetes.io/hostname
          labelSelector:
            matchLabels: {{- include "waybridge.labels" . | nindent 14 }}
  {{- end }}
{{- end }}

{{- /* A claim for a data folder: storage, storageClass. */}}
{{- define "waybridge.dataClaim" -}}
- metadata: { name: data }
  spec:
    accessModes: [ReadWriteOnce]
    {{- with .storageClass }}
    storageClassName: {{ . }}
    {{- end }}
    resources: { requests: { storage: {{ .storage }} } }
{{- end }}

{{- /* The pod of a role: root, component, resources. `state`: a claim holds the data folder. */}}
{{- define "waybridge.pod" -}}
{{- $values := .root.Values }}
metadata:
  labels: {{- include "waybridge.labels" . | nindent 4 }}
  annotations:
    prometheus.io/scrape: "true"
    checksum/gateway: {{ include "waybridge.gatewayYaml" .root | sha256sum }}
spec:
  {{- include "waybridge.podCommon" (merge (dict "user" 1000 "group" 1000) .) | nindent 2 }}
  terminationGracePeriodSeconds: 15
  containers:
    - name: {{ .component }}
      image: {{ include "waybridge.image" .root }}
      imagePullPolicy: {{ $values.image.pullPolicy }}
      args: [{{ .component }}]
      env:
        - { name: ADMIN_TOKEN, valueFrom: { secretKeyRef: { name: {{ $values.secret }}, key: admin-token } } }
        - { name: TRACKING_URL, value: {{ $values.trackingUrl | default (printf "http://%s-tracking:8090" .root.Release.Name) | quote }} }
        {{- include "waybridge.redisEnv" .root | nindent 8 }}
        {{- with $values.env }}{{ toYaml . | nindent 8 }}{{ end }}
      ports:
        - { name: monitor, containerPort: 9464 }
      securityContext: {{- include "waybridge.containerSecurity" . | nindent 8 }}
      resources: {{- toYaml (.resources | default dict) | nindent 8 }}
      # A Redis that is away or loads its data is no reason to restart: only readiness asks for it.
      startupProbe: { httpGet: { path: /healthz, port: monitor }, periodSeconds: 2, failureThreshold: 150 }
      readinessProbe: { httpGet: { path: /readyz, port: monitor }, periodSeconds: 5 }
      livenessProbe: { httpGet: { path: /healthz, port: monitor }, periodSeconds: 15, timeoutSeconds: 5, failureThreshold: 4 }
      volumeMounts:
        - { name: config, mountPath: /app/config, readOnly: true }
        - { name: data, mountPath: /app/.data }
        - { name: tmp, mountPath: /tmp }
        {{- with $values.extraVolumeMounts }}{{ toYaml . | nindent 8 }}{{ end }}
  volumes:
    - name: config
      {{- if $values.config.existingClaim }}
      persistentVolumeClaim: { claimName: {{ $values.config.existingClaim }}, readOnly: true }
      {{- else }}
      projected:
        sources:
          - configMap: { name: {{ .root.Release.Name }}-config }
          {{- with $values.config.sources }}{{ toYaml . | nindent 10 }}{{ end }}
      {{- end }}
    {{- if not .state }}
    - { name: data, emptyDir: {} }
    {{- end }}
    - { name: tmp, emptyDir: {} }
    {{- with $values.extraVolumes }}{{ toYaml . | nindent 4 }}{{ end }}
{{- end }}

{{- define "waybridge.image" -}}
"{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}"
{{- end }}
