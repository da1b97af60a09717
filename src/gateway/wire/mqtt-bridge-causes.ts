import { say, type Template, type Text } from '../../texts/text.ts'
/** Why a broker cannot be reached or ends a connection, as a sentence. */
export function causeOf(error: Error): Text {
  const { code = '', message } = error as NodeJS.ErrnoException
  const known = ERRORS.find(([pattern]) => pattern.test(code))
  if (!known) return say('the connection failed: {}', [message, code].filter(Boolean).join(' '))
  return say('{} ({})', say(known[1]), code)
}

const ERRORS: readonly (readonly [RegExp, Template])[] = [
  [/^ECONNREFUSED$/, 'the connection is refused: no broker listens there'],
  [/^(?:ENOTFOUND|EAI_AGAIN)$/, 'the name of the broker cannot be resolved'],
  [/^(?:ETIMEDOUT|EHOSTUNREACH|ENETUNREACH)$/, 'the broker cannot be reached'],
  [/^(?:ECONNRESET|EPIPE)$/, 'the broker ended the connection'],
  [/^CERT_HAS_EXPIRED$/, 'the certificate of the broker has expired'],
  [/^ERR_TLS_CERT_ALTNAME_INVALID$/, 'the certificate of the broker is for another host than the url names'],
  [/^(?:SELF_SIGNED|DEPTH_ZERO|UNABLE_TO_|CERT_)/, 'the certificate of the broker is not trusted: set tls.ca'],
  [
    /^ERR_SSL_.*ALERT_.*(?:CERTIFICATE|UNKNOWN_CA)/,
    'the broker wants another client certificate: set tls.cert and key',
  ],
  [/^ERR_SSL_.*(?:WRONG_VERSION_NUMBER|PACKET_LENGTH|HTTP_REQUEST)/, 'the broker speaks no TLS at this port'],
]

/** Returns the meaning of a reason code of MQTT 5, or of a return code of 3.1.1. */
export function reasonText(code: number, reason?: string): Text {
  const known = say(REASONS.get(code) ?? 'without a known reason')
  return say('{} ({})', known, reason ? `${code}: ${reason.slice(0, MAX_REASON)}` : code)
}

const REASONS: ReadonlyMap<number, Template> = new Map<number, Template>([
  [1, 'it does not speak this version of MQTT: set version'],
  [2, 'the client id is not accepted'],
  [3, 'it is not available'],
  [4, 'wrong user name or password'],
  [5, 'not authorised'],
  [128, 'unspecified error'],
  [132, 'it does not speak this version of MQTT: set version'],
  [133, 'the client id is not accepted'],
  [134, 'wrong user name or password'],
  [135, 'not authorised'],
  [136, 'it is not available'],
  [137, 'it is busy'],
  [138, 'this client is banned'],
  [139, 'it is shutting down'],
  [141, 'it heard nothing of us in time'],
  [142, 'another client connects with the same client id'],
  [143, 'it does not accept the topic'],
  [151, 'a quota is exceeded'],
  [156, 'use another broker'],
  [157, 'the broker has moved'],
  [158, 'it does not support shared subscriptions'],
  [159, 'too many connections in this time'],
  [162, 'it does not support wildcards'],
])
const MAX_REASON = 100
