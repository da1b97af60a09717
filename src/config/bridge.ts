import { z } from 'zod'
import { certWithKey, clientTls, distinctNames, fields, leaf, list, oneOf, orNull, setting, text } from './leaves.ts'
import { type Protocols, protocolName } from './listener.ts'

/** A broker of the customer's own. The gateways subscribe to its topics. */
export type Bridge = z.output<ReturnType<typeof bridges>>[number]
export type BridgeTopic = Bridge['topics'][number]

/** `mqtt.bridges`; each has a name of its own. */
export function bridges(protocols: Protocols, dir: string) {
  return list(bridge(protocols, dir)).superRefine(distinctNames('bridge'))
}

function bridge(protocols: Protocols, dir: string) {
  const shape = {
    url: brokerUrl.describe('`mqtts://host:8883`, or `mqtt://host:1883` without TLS.'),
    name: text.optional().describe('Name for people, metrics and findings; without it, host and port.'),
    topics: topics(protocols).describe(
      'Topics to subscribe to, each with the protocol of its messages: `{ fleet/+/pos: fix }`. The first `+`, or `{device}`, is the id of the device.',
    ),
    username: text.optional().describe('User name at the broker.'),
    password: text.optional().describe('Its password.'),
    client_id: text.optional().describe('Client id at the broker; without it, one of this installation and bridge.'),
    shared_group: sharedGroup.optional().describe('Group in which gateways share the messages (`$share`).'),
    version: setting(oneOf('5', '3.1.1'), '5', 'Version of MQTT: `5` or `3.1.1`.'),
    tls: orNull(brokerTls(dir)).describe(
      'What TLS needs beyond the authorities that the system trusts; null: nothing.',
    ),
  }
  return fields(shape)
    .superRefine(({ url, username, password, tls }, context) => {
      if (password !== undefined && username === undefined)
        context.addIssue({ code: 'custom', path: ['password'], message: 'needs username' })
      if (tls && !url.isSecure)
        context.addIssue({ code: 'custom', path: ['tls'], message: 'needs a url that begins with mqtts://' })
    })
    .transform(({ url, name, ...rest }) => ({ ...rest, ...url, name: name ?? `${url.host}:${url.port}` }))
}

/** Where a broker is. A password in the URL would be in every log that names the bridge. */
const brokerUrl = leaf((value) => {
  const url = URL.parse(value)
  const isSecure = url?.protocol === 'mqtts:'
  if (!url?.hostname || !(isSecure || url.protocol === 'mqtt:')) return undefined
  if (url.username || url.password || url.search || url.hash || !['', '/'].includes(url.pathname)) return undefined
  return { host: url.hostname.replace(/^\[|\]$/g, ''), port: Number(url.port) || (isSecure ? 8883 : 1883), isSecure }
}, 'expected a URL such as mqtts://broker.example:8883, without path; user name and password have keys of their own')

const sharedGroup = leaf(
  (value) => (/^[^/+#\0]+$/.test(value) ? value : undefined),
  'expected the name of a group without /, + and #',
)

function brokerTls(dir: string) {
  const alpn = text.optional().describe('Protocol name for ALPN: `x-amzn-mqtt-ca` at port 443 of AWS IoT.')
  return fields({ ...clientTls(dir, 'broker'), alpn }).superRefine(certWithKey)
}

/** Patterns of topics with their protocols, in the order of the file. */
function topics(protocols: Protocols) {
  const protocolOf = protocolName(protocols?.map(({ name }) => name))
  return z.record(z.string(), z.unknown(), TOPICS).transform((value, context) => {
    const entries = Object.entries(value)
    if (entries.length === 0) context.addIssue({ code: 'custom', message: 'expected at least one topic' })
    return entries.map(([pattern, name]) => {
      const read = topicPattern(pattern)
      const protocol = protocolOf.safeParse(name)
      const mistakes = [...('mistake' in read ? [read.mistake] : []), ...messagesOf(protocol.error)]
      for (const message of mistakes) context.addIssue({ code: 'custom', path: [pattern], message })
      return { filter: '', device: 0, ...read, protocol: protocol.data ?? '' }
    })
  })
}

/**
 * Reads a pattern of topics. `filter`: the subscription. `device`: the level with the id of the device, from 0 on: the one
 * written `{device}`, else the first `+`.
 */
export function topicPattern(pattern: string): { filter: string; device: number } | { mistake: string } {
  const levels = pattern.split('/')
  const filter = levels.map((level) => (level === DEVICE ? '+' : level))
  if (levels[0].startsWith('$')) return { mistake: 'expected no level that begins with $: shared_group names a group' }
  const isWrong = (level: string, index: number) =>
    /[+#{}\0]/.test(level) && level !== '+' && !(level === '#' && index === levels.length - 1)
  if (filter.some(isWrong) || levels.filter((level) => level === DEVICE).length > 1) return { mistake: PATTERN }
  const device = levels.includes(DEVICE) ? levels.indexOf(DEVICE) : levels.indexOf('+')
  if (device < 0) return { mistake: 'expected a + in place of the id of the device, such as fleet/+/pos' }
  return { filter: filter.join('/'), device }
}

function messagesOf(error: z.ZodError | undefined): string[] {
  return error?.issues.map(({ message }) => message) ?? []
}

const TOPICS = 'expected topics with their protocols, such as { fleet/+/pos: fix }'
const DEVICE = '{device}'
const PATTERN = 'expected + or one {device} for a whole level, and # for the last level alone'
