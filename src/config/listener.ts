import { isIP } from 'node:net'
import { MAPPING_PREFIX } from '../../protocols/kit/index.ts'
import {
  address,
  fields,
  filePath,
  flag,
  integer,
  leaf,
  networks,
  oneOf,
  orNull,
  port,
  setting,
  text,
} from './leaves.ts'
import { unknownName } from './problem.ts'

const TRANSPORTS = ['tcp', 'udp', 'http'] as const

/** What the configuration needs to know of a protocol: its name, and its usual port on each transport; 0: it has none there. */
interface UsualPorts extends Partial<Record<(typeof TRANSPORTS)[number], number>> {
  readonly name: string
}

/** The protocols that listeners may name; null in a process that opens no listeners, and accepts every name. */
export type Protocols = readonly UsualPorts[] | null

/** The protocol of a listener that finds out what each tracker speaks. */
export const AUTO = 'auto'

/** Represents all protocols, for a listener that names none. */
const ALL = { name: AUTO, tcp: 5000, udp: 5000 } satisfies UsualPorts

/** One port for all protocols, and every protocol on its usual ports. */
export function usualListeners(protocols: Protocols) {
  return (protocols ? [ALL, ...protocols] : []).flatMap((protocol: UsualPorts) =>
    TRANSPORTS.flatMap((transport) => {
      const usual = protocol[transport]
      return usual ? [{ transport, port: usual, protocol: protocol.name, host: '0.0.0.0' }] : []
    }),
  )
}

/** A port for devices. */
export function listener(protocols: Protocols, dir: string) {
  const known = new Map<string, UsualPorts>([ALL, ...(protocols ?? [])].map((protocol) => [protocol.name, protocol]))
  const name = protocolName(protocols && [...known.keys()])
  const shape = {
    transport: oneOf(...TRANSPORTS).describe('`tcp`, `udp` or `http`.'),
    port: port.describe('Port; 0: any free port, kept while `start` runs.'),
    protocol: name.describe(
      'Name of a protocol, as `waybridge protocols` lists it; `auto` finds out what each tracker speaks (tcp and udp); `map:NAME` is a mapping of `mappings.yaml` (http).',
    ),
    host: setting(text, '0.0.0.0', 'IP address to listen on.'),
    tls: orNull(deviceTls(dir)).describe('Certificate of the port; null: without TLS.'),
    proxy_protocol: setting(flag, false, PROXY_PROTOCOL),
    networks: networks.describe('CIDR: who may connect; []: everybody.'),
    trial: orNull(trial).describe('The old server, which answers in our place while we look on; null: none.'),
  }
  return fields(shape).superRefine(({ transport, protocol, ...stream }, context) => {
    for (const key of ['tls', 'proxy_protocol'] as const)
      if (transport === 'udp' && stream[key])
        context.addIssue({ code: 'custom', path: [key], message: 'only for the transports tcp and http' })
    const isSpoken = (over: (typeof TRANSPORTS)[number]) => known.get(protocol)?.[over] !== undefined
    if (!protocols || isSpoken(transport)) return
    const supported = TRANSPORTS.filter(isSpoken).join(' or ')
    context.addIssue({ code: 'custom', path: ['transport'], message: `expected ${supported} for ${protocol}` })
  })
}

/** An old server behind a listener. */
const trial = fields({
  host: leaf(
    (value) => (isHost(value) ? value : undefined),
    'expected a host name, or an IP address without brackets',
  ).describe('Name or IP address of the old server.'),
  port: integer(1, 65_535, 'port').describe('Its port.'),
  push: setting(flag, false, 'Push the positions as well; `false`: they are read, shown and dropped.'),
})

function isHost(value: string): boolean {
  return isIP(value) > 0 || /^(?=.{1,253}$)[\w-]{1,63}(\.[\w-]{1,63})*\.?$/.test(value)
}

/** The name of a protocol; any name if the protocols are not known. */
export function protocolName(known: readonly string[] | null | undefined) {
  return leaf(
    (value) => (!known || known.includes(value) ? value : undefined),
    (value) => unknownProtocol(value, known ?? []),
  )
}

/**
 * Returns the mistake for a name that is none of these protocols. A mapping saved by the page is in Redis, and not among
 * them.
 */
export function unknownProtocol(name: string, known: readonly string[]): string {
  const isMapping = name.startsWith(MAPPING_PREFIX)
  const ofKind = known.filter((each) => each.startsWith(MAPPING_PREFIX) === isMapping)
  if (!isMapping) return unknownName('protocol', name, ofKind)
  return `${unknownName('mapping', name, ofKind)} (only those of mappings.yaml have a name here: the page's are used without)`
}

/** The built-in MQTT broker. */
export function broker(dir: string) {
  return fields({
    ...address('0.0.0.0', 1883),
    tls: orNull(deviceTls(dir)).describe('Certificate of a further port, with TLS; null: none.'),
    tls_port: setting(port, 8883, 'The port with TLS; 0: any free port.'),
    proxy_protocol: setting(flag, false, PROXY_PROTOCOL),
  })
}

/** The keys of a certificate. */
export function certificate(dir: string) {
  return {
    cert: filePath(dir).describe('File with the certificate and its chain, PEM; relative to this folder.'),
    key: filePath(dir).describe('File with its private key, PEM.'),
    profile: setting(
      oneOf('intermediate', 'old'),
      'intermediate',
      '`intermediate`: TLS 1.2 and 1.3; `old`: TLS 1.0 and weak ciphers as well.',
    ),
  }
}

/** A certificate, and whether devices need one of their own. */
function deviceTls(dir: string) {
  const clientCa = orNull(filePath(dir)).describe('File with the CA of client certificates, PEM; null: they need none.')
  return fields({ ...certificate(dir), client_ca: clientCa })
}

const PROXY_PROTOCOL = 'Each connection begins with a PROXY header, v1 or v2.'
