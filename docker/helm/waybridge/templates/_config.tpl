{{- /* "true" if Redis is not that of the chart. */}}
{{- define "waybridge.isExternalRedis" -}}
{{- if or .Values.externalRedis.settings .Values.externalRedis.secret.urlKey }}true{{ end }}
{{- end }}

{{- /* The environment that waybridge.redis reads. */}}
{{- define "waybridge.redisEnv" -}}
{{- $secret := .Values.externalRedis.secret }}
{{- if not (include "waybridge.isExternalRedis" .) -}}
- { name: REDIS_PASSWORD, valueFrom: { secretKeyRef: { name: {{ .Values.secret }}, key: redis-password } } }
{{- else if $secret.urlKey -}}
- { name: REDIS_URL, valueFrom: { secretKeyRef: { name: {{ required "externalRedis.secret.name is missing" $secret.name }}, key: {{ $secret.urlKey }} } } }
{{- else if $secret.passwordKey -}}
- { name: REDIS_PASSWORD, valueFrom: { secretKeyRef: { name: {{ required "externalRedis.secret.name is missing" $secret.name }}, key: {{ $secret.passwordKey }} } } }
{{- end }}
{{- end }}

{{- /* The section redis of gateway.yaml. */}}
{{- define "waybridge.redis" -}}
{{- $secret := .Values.externalRedis.secret }}
{{- $settings := deepCopy .Values.externalRedis.settings }}
{{- if not (include "waybridge.isExternalRedis" .) }}
{{- $settings = omit (fromYaml (.Files.Get "files/gateway.yaml")).redis "sentinels" }}
{{- $sentinels := list }}
{{- range $pod := until 3 }}{{ $sentinels = append $sentinels (printf "%s-redis-server-%d:26379" $.Release.Name $pod) }}{{ end }}
{{- $_ := set $settings "sentinels" $sentinels }}
{{- else if $secret.urlKey }}
{{- $_ := set $settings "url" "${env:REDIS_URL}" }}
{{- else if $secret.passwordKey }}
{{- $_ := set $settings "password" "${env:REDIS_PASSWORD}" }}
{{- if $settings.sentinels }}{{ $_ := set $settings "sentinel_password" "${env:REDIS_PASSWORD}" }}{{ end }}
{{- end }}
{{- toYaml $settings }}
{{- end }}

{{- /* Who sends the PROXY headers that gateways believe: networks. */}}
{{- define "waybridge.proxies" -}}
{{- if and .Values.service.proxyProtocol (not .Values.service.proxyNetworks) }}
{{- fail "service.proxyNetworks is missing: the addresses of the balancer that sends PROXY headers" }}
{{- end }}
{{- toYaml (ternary (list .Values.podNetwork) .Values.service.proxyNetworks .Values.haproxy.enabled) }}
{{- end }}

{{- /* "true" if connections reach the gateways with a PROXY header. */}}
{{- define "waybridge.isProxied" -}}
{{- if or .Values.haproxy.enabled .Values.service.proxyProtocol }}true{{ end }}
{{- end }}

{{- /* The sections of gateway.yaml that are the chart's where yours has none. */}}
{{- define "waybridge.sections" -}}
{{- $sections := omit (fromYaml (.Files.Get "files/gateway.yaml")) "companies" }}
{{- $isProxied := not (empty (include "waybridge.isProxied" .)) }}
{{- $_ := set $sections "redis" (fromYaml (include "waybridge.redis" .)) }}
{{- $_ := set $sections "trusted_proxies" (fromYamlArray (include "waybridge.proxies" .)) }}
{{- $listeners := list }}
{{- range .Values.listeners | default $sections.listeners }}
{{- $listener := merge (dict "host" "${env:BIND_HOST:-0.0.0.0}") . }}
{{- if ne .transport "udp" }}{{ $_ := set $listener "proxy_protocol" $isProxied }}{{ end }}
{{- $listeners = append $listeners $listener }}
{{- end }}
{{- $_ := set $sections "listeners" $listeners }}
{{- $_ := set $sections.mqtt.broker "proxy_protocol" $isProxied }}
{{- toYaml $sections }}
{{- end }}

{{- /* Your gateway.yaml as it is, and the chart's sections that it has not. */}}
{{- define "waybridge.gatewayYaml" -}}
{{- $own := fromYaml .Values.config.gateway }}
{{- if $own.Error }}{{ fail (printf "config.gateway: %s" $own.Error) }}{{ end }}
{{- range $key := list "admin" "monitor" }}
{{- if and (hasKey $own $key) (not (get $own $key).host) }}
{{- fail (printf "config.gateway: %s.host is missing, as your section replaces the whole one of the chart" $key) }}
{{- end }}
{{- end }}
{{- $sections := fromYaml (include "waybridge.sections" .) }}
{{- range $key := keys $own }}{{ $sections = omit $sections $key }}{{ end }}
{{- with .Values.config.gateway }}{{ trimSuffix "\n" . }}
{{ end }}
{{- with $sections }}
# Of the chart.
{{ toYaml . }}
{{ end }}
{{- end }}

{{- /* The ports of the listeners: { tcp: [5000], udp: [5000] }. Fails if a PROXY header would be missed, or be taken for a device's bytes. */}}
{{- define "waybridge.ports" -}}
{{- $own := ternary "" .Values.config.gateway (not (empty .Values.config.existingClaim)) | fromYaml }}
{{- $sections := fromYaml (include "waybridge.sections" .) }}
{{- $isProxied := not (empty (include "waybridge.isProxied" .)) }}
{{- $ports := dict "tcp" list "udp" list }}
{{- $open := list }}
{{- range $own.listeners | default $sections.listeners }}{{ $open = append $open . }}{{ end }}
{{- $mqtt := get (ternary $own.mqtt $sections.mqtt (hasKey $own "mqtt") | default dict) "broker" }}
{{- if or $mqtt (not (hasKey ($own.mqtt | default dict) "broker")) }}
{{- $broker := merge (dict "transport" "mqtt") ($mqtt | default dict) (dict "port" 1883) }}
{{- $open = append $open $broker }}
{{- if $broker.tls }}{{ $open = append $open (merge (dict "port" ($broker.tls_port | default 8883)) $broker) }}{{ end }}
{{- end }}
{{- range $open }}
{{- $kind := ternary "udp" "tcp" (eq .transport "udp") }}
{{- if and (eq $kind "tcp") (ne $isProxied (.proxy_protocol | default false)) }}
{{- fail (printf "the listener on port %v needs proxy_protocol: %v, as what is in front of it (haproxy.enabled, service.proxyProtocol)" .port $isProxied) }}
{{- end }}
{{- $_ := set $ports $kind (append (get $ports $kind) (int .port) | uniq) }}
{{- end }}
{{- toYaml $ports }}
{{- end }}
