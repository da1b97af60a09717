{{- define "waybridge.labels" -}}
app.kubernetes.io/name: waybridge
app.kubernetes.io/instance: {{ .root.Release.Name }}
app.kubernetes.io/component: {{ .component }}
{{- end }}

{{- define "waybridge.name" -}}
{{ .root.Release.Name }}-{{ .component }}
{{- end }}

{{- /* The name of a gateway's pod in full: HAProxy does not use search domains. */}}
{{- define "waybridge.gatewayHost" -}}
{{ .root.Release.Name }}-gateway-{{ .pod }}.{{ .root.Release.Name }}-gateway.{{ .root.Release.Namespace }}.svc.{{ .root.Values.clusterDomain }}
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

{{- /* The pod of a role: root, role, resources. `state`: a claim holds the data folder. */}}
{{- define "waybridge.pod" -}}
metadata:
  labels: {{- include "waybridge.labels" (dict "root" .root "component" .role) | nindent 4 }}
  annotations: { prometheus.io/scrape: "true" }
spec:
  automountServiceAccountToken: false
  terminationGracePeriodSeconds: 15
  securityContext: {{- include "waybridge.podSecurity" (dict "user" 1000 "group" 1000) | nindent 4 }}
  containers:
    - name: {{ .role }}
      image: "{{ .root.Values.image.repository }}:{{ .root.Values.image.tag | default .root.Chart.AppVersion }}"
      imagePullPolicy: {{ .root.Values.image.pullPolicy }}
      args: [{{ .role }}]
      env:
        - { name: ADMIN_TOKEN, valueFrom: { secretKeyRef: { name: {{ .root.Values.secret }}, key: admin-token } } }
        - { name: REDIS_PASSWORD, valueFrom: { secretKeyRef: { name: {{ .root.Values.secret }}, key: redis-password } } }
        - { name: REDIS_URL, value: "redis://:$(REDIS_PASSWORD)@{{ .root.Release.Name }}-redis-0.{{ .root.Release.Name }}-redis:6379" }
        - { name: TRACKING_URL, value: {{ .root.Values.trackingUrl | default (printf "http://%s-tracking:8090" .root.Release.Name) | quote }} }
        - { name: PROXY_NETWORK, value: {{ .root.Values.podNetwork | quote }} }
        {{- with .root.Values.env }}{{ toYaml . | nindent 8 }}{{ end }}
      ports:
        - { name: monitor, containerPort: 9464 }
      securityContext: {{- include "waybridge.containerSecurity" . | nindent 8 }}
      resources: {{- toYaml (.resources | default dict) | nindent 8 }}
      startupProbe: { httpGet: { path: /readyz, port: monitor }, periodSeconds: 2, failureThreshold: 150 }
      readinessProbe: { httpGet: { path: /readyz, port: monitor }, periodSeconds: 5 }
      livenessProbe: { httpGet: { path: /healthz, port: monitor }, periodSeconds: 15, timeoutSeconds: 5, failureThreshold: 4 }
      volumeMounts:
        - { name: config, mountPath: /app/config, readOnly: true }
        - { name: data, mountPath: /app/.data }
        - { name: tmp, mountPath: /tmp }
  volumes:
    - { name: config, configMap: { name: {{ include "waybridge.name" (dict "root" .root "component" "config") }} } }
    {{- if not .state }}
    - { name: data, emptyDir: {} }
    {{- end }}
    - { name: tmp, emptyDir: {} }
{{- end }}
