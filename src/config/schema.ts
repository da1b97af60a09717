import { z } from 'zod'
import {
  address,
  fields,
  flag,
  headerToken,
  httpUrl,
  id,
  integer,
  leaf,
  list,
  logging,
  number,
  oneOf,
  pathPrefix,
  port,
  redisUrl,
  section,
  span,
  text,
  timer,
  zone,
} from './leaves.ts'
import { unknownName } from './problem.ts'
import { bytes } from './units.ts'

const TRANSPORTS = ['tcp', 'udp', 'http'] as const

/** What the configuration must know of a protocol: its name, and its usual port on each transport. */
export interface ProtocolPorts {
  readonly name: string
  readonly tcp?: { readonly port: number }
  readonly udp?: { readonly port: number }
  readonly http?: { readonly port: number }
}

/** Whom listeners may be for; null: of a process that opens none, and so does not check who they are for. */
export type Protocols = readonly ProtocolPorts[] | null

/** gateway.yaml, validated: durations in ms, sizes in bytes, ids as canonical digits. */
export type Config = z.output<ReturnType<typeof configSchema>>
/** One place to listen for devices. */
export type Listener = Config['listeners'][number]
/** A company whose couriers are tracked. */
export type Company = Config['companies'][number]

/** Every setting's default; a listener for each of `protocols` on its usual ports. */
export function defaultConfig(protocols: Protocols): Config {
  return configSchema(protocols).parse({})
}

/**
 * The schema of gateway.yaml, INTERFACE §2. Scalars may be text, as the YAML file has them, or what they mean.
 * The message of an `unrecognized_keys` issue has one line for each of its keys.
 */
export function configSchema(protocols: Protocols) {
  return section({
    redis: section({
      url: redisUrl().nullable().default(null),
      max_memory: leaf(bytes, 'expected a size such as 512mb or 2gb').nullable().default(null),
      stop_at: number(0.1, 1).default(0.85),
      durability: oneOf('strict', 'relaxed').default('strict'),
    }),
    data_dir: text().default('.data'),
    time_zone: zone().default('UTC'),
    listeners: list(listener(protocols), () => usualListeners(protocols)),
    mqtt: section({ broker: fields(address('0.0.0.0', 1883)).nullable().prefault({}) }),
    tracking: section({
      base_url: httpUrl().nullable().default(null),
      push_url: httpUrl().nullable().default(null),
      listen: section(address('127.0.0.1', 8090)),
      return_prefix: pathPrefix().default(''),
    }),
    companies: list(company()),
    batch: section({ max_positions: integer(1, 100_000).default(500), max_wait: timer(0).default(1000) }),
    push: section({
      concurrency: integer(1, 100_000).default(64),
      max_requests_per_s: number(0.001, 1_000_000).nullable().default(null),
      timeout: timer(1).default(60_000),
      first_delay: timer(1).default(1000),
      max_delay: timer(1).default(60_000),
    }),
    filter: section({
      uere_m: number(0.1, 1000).default(5),
      default_accuracy_m: number(1, 100_000).default(50),
      max_future: span().default(300_000),
      max_age: span().nullable().default(null),
      duplicate_window: span().default(86_400_000),
    }),
    hold: section({
      unknown: flag().default(true),
      no_route: flag().default(true),
      clock: flag().default(true),
      max_unknown_devices: integer(0, 1_000_000).default(1000),
      max_fixes_per_device: integer(0, 1_000_000_000).default(10_000),
      max_age: span().default(86_400_000),
    }),
    workers: integer(1, 1024).default(1),
    admin: section({ host: text().default('127.0.0.1'), port: port().default(8080), tokens: tokens() }),
    parked: section({ max_positions: integer(0, 1_000_000_000_000).default(1_000_000) }),
    monitor: section(address('127.0.0.1', 9464)),
    limits: section({
      max_connections: integer(1, 10_000_000).default(100_000),
      max_connections_per_ip: integer(1, 10_000_000).default(10_000),
      identify_timeout: timer(1).default(30_000),
      idle_timeout: timer(1).default(900_000),
      max_frame_bytes: integer(64, 1 << 30).default(65_536),
    }),
    log: logging(),
  })
}

function usualListeners(protocols: Protocols) {
  return (protocols ?? []).flatMap((protocol) =>
    TRANSPORTS.flatMap((transport) => {
      const usual = protocol[transport]
      return usual ? [{ transport, port: usual.port, protocol: protocol.name, host: '0.0.0.0' }] : []
    }),
  )
}

function listener(protocols: Protocols) {
  const known = protocols && new Map(protocols.map((protocol) => [protocol.name, protocol]))
  const name = leaf(
    (value) => (!known || known.has(value) ? value : undefined),
    (value) => unknownName('protocol', value, [...(known ?? new Map<string, never>()).keys()]),
  )
  const shape = { transport: oneOf(...TRANSPORTS), port: port(), protocol: name, host: text().default('0.0.0.0') }
  return fields(shape).superRefine(({ transport, protocol }, context) => {
    if (!known || known.get(protocol)?.[transport]) return
    context.addIssue({ code: 'custom', path: ['transport'], message: `${protocol} is not spoken over ${transport}` })
  })
}

function company() {
  return fields({
    company_id: id(),
    name: text().optional(),
    apikey: text(),
    oauth_token: headerToken().optional(),
  })
}

/** A token with two roles would leave open what it may do. */
function tokens() {
  return list(token()).superRefine((all, context) => {
    for (const [index, { token: own }] of all.entries())
      if (all.findIndex((other) => other.token === own) < index)
        context.addIssue({ code: 'custom', path: [index, 'token'], message: 'this token stands here twice' })
  })
}

function token() {
  const role = oneOf('read', 'operate').default('operate')
  const full = fields({ token: headerToken(), role })
  return z.preprocess((value) => (typeof value === 'string' ? { token: value } : value), full)
}
