{{/* The parts that all pods have. The chart uses functions of Go's templates only, so that any of them can render it. */}}

{{ define "netinv.security" -}}
runAsNonRoot: true
        runAsUser: 10001
        runAsGroup: 10001
        fsGroup: 10001
        seccompProfile: {type: RuntimeDefault}
{{- end }}

{{ define "netinv.container" -}}
image: {{ .Values.image | printf "%q" }}
          imagePullPolicy: {{ .Values.imagePullPolicy }}
          securityContext:
            allowPrivilegeEscalation: false
            readOnlyRootFilesystem: true
            capabilities: {drop: [ALL]}
          volumeMounts:
            - {name: settings, mountPath: /etc/netinv, readOnly: true}
            - {name: media, mountPath: /var/lib/netinv/media}
            - {name: work, mountPath: /var/lib/netinv/git}
            - {name: temporary, mountPath: /tmp}
{{- end }}

{{ define "netinv.volumes" -}}
- {name: settings, secret: {secretName: {{ .Values.settingsSecret }}, defaultMode: 0440}}
        - name: media
          persistentVolumeClaim:
            claimName: {{ if .Values.media.claim }}{{ .Values.media.claim }}{{ else }}{{ .Release.Name }}-media{{ end }}
        - {name: work, emptyDir: {}}
        - {name: temporary, emptyDir: {}}
{{- end }}
