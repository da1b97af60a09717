import { z } from 'zod'
import {
  certWithKey,
  clientTls,
  distinctNames,
  fields,
  flag,
  id,
  integer,
  leaf,
  list,
  mapping,
  oneOf,
  orNull,
  setting,
  text,
} from './leaves.ts'

/** A receiver that gets the same positions as the tracking API. */
export type Copy = z.output<ReturnType<typeof copies>>[number]

/** `copies`; each has a name of its own. */
export function copies(dir: string) {
  return list(copy(dir)).superRefine(distinctNames('copy'))
}

function copy(dir: string) {
  return fields({
    name: copyName.describe('Name in findings, figures and Redis: another name is another copy, which begins anew.'),
    to: receiver.describe(
      '`https://…`, `http://…`, or a broker: `mqtts://user:password@host`, `mqtt://host`. Redirects are not followed.',
    ),
    format: setting(
      oneOf('json', 'positions_v3', 'osmand'),
      'json',
      '`json`; `positions_v3`: a second tracking API, whose base URL is `to`; `osmand`: a request for each position.',
    ),
    companies: orNull(z.array(id, { error: 'expected a list' }).min(1, 'expected at least one company')).describe(
      'Companies whose positions it gets; null: all.',
    ),
    without_route: setting(
      flag,
      false,
      'Copy positions outside of an assignment too, of known devices, when they are held without a route; `false`: they go nowhere.',
    ),
    max_waiting: setting(
      integer(1, 1_000_000_000),
      1_000_000,
      'Most positions that wait for it; beyond them the oldest are discarded.',
    ),
    secret: text
      .optional()
      .describe(
        'Key of the signature (`json`), apikey (`positions_v3`; without it, that of the company), or `token=` (`osmand`).',
      ),
    headers: setting(headers, {}, 'Headers of each request, such as `{ authorization: Bearer … }`.'),
    topic: topic
      .optional()
      .describe('Topic at a broker; without it `fleet/{company_id}/{device}`; also `{courier_id}`, `{route_id}`.'),
    tls: orNull(fields(clientTls(dir, 'receiver')).superRefine(certWithKey)).describe(
      'What TLS needs beyond the authorities that the system trusts; null: nothing.',
    ),
  }).superRefine((entry, context) => {
    for (const [key, message] of mistakesOf(entry)) context.addIssue({ code: 'custom', path: [key], message })
  })
}

interface CopySettingsEntry {
  readonly to: string
  readonly format: string
  readonly without_route: boolean
  readonly secret?: string
  readonly headers: Readonly<Record<string, string>>
  readonly topic?: string
  readonly tls: unknown
}

/** Returns mistakes of settings that do not fit together, by the key to change. */
function mistakesOf({ to, format, without_route, secret, headers: own, topic: own_topic, tls }: CopySettingsEntry) {
  const found: [key: string, message: string][] = []
  const isBroker = /^mqtts?:/.test(to)
  if (isBroker && format !== 'json') found.push(['format', 'a broker gets json'])
  if (isBroker && secret !== undefined) found.push(['secret', 'a broker has user name and password in `to`'])
  if (!isBroker && own_topic !== undefined) found.push(['topic', 'only a broker has topics'])
  if (Object.keys(own).length > 0 && (isBroker || format === 'positions_v3'))
    found.push(['headers', isBroker ? 'a broker gets no headers' : 'format positions_v3 has no headers'])
  if (without_route && format === 'positions_v3')
    found.push(['without_route', 'format positions_v3 needs a route for each position'])
  if (tls && !/^(?:https|mqtts):/.test(to)) found.push(['tls', 'needs a `to` that begins with https:// or mqtts://'])
  return found
}

/** A part of keys in Redis, topics and findings. */
const copyName = leaf(
  (value) => (/^[A-Za-z0-9][\w.-]{0,39}$/.test(value) ? value : undefined),
  'expected a name of up to 40 letters, digits, dots, - and _',
)

/** Its path, query, user name and password may be secrets: no message contains them. */
const receiver = leaf((value) => {
  const url = URL.parse(value)
  if (!url?.hostname || url.hash) return undefined
  if (/^https?:$/.test(url.protocol)) return url.username || url.password ? undefined : value
  const isPlain = !url.search && ['', '/'].includes(url.pathname) && (!url.password || url.username)
  return /^mqtts?:$/.test(url.protocol) && isPlain ? value : undefined
}, 'expected a URL such as https://example.com/positions, without user name and fragment, or mqtts://user:password@host:8883')

const topic = leaf(
  (value) => (/^(?!\$)(?:[^+#\0{}]|\{(?:company_id|device|courier_id|route_id)\})+$/.test(value) ? value : undefined),
  'expected a topic such as fleet/{company_id}/{device}, without + and #, with {company_id}, {device}, {courier_id}, {route_id}',
)

/** Names in lower case. */
const headers = mapping.transform((value, context) => {
  const found: Record<string, string> = {}
  for (const [name, content] of Object.entries(value)) {
    const key = name.toLowerCase()
    const isAllowed = /^[!#$%&'*+.^`|~\w-]+$/.test(key) && !OWN_HEADERS.has(key)
    const isText =
      ['string', 'number', 'boolean', 'bigint'].includes(typeof content) && /^[\t -~]+$/.test(String(content))
    if (!isAllowed)
      context.addIssue({
        code: 'custom',
        path: [name],
        message: 'expected the name of a header that is not set by waybridge',
      })
    else if (!isText) context.addIssue({ code: 'custom', path: [name], message: 'expected printable ASCII characters' })
    else found[key] = String(content)
  }
  return found
})
const OWN_HEADERS: ReadonlySet<string> = new Set([
  'host',
  'connection',
  'keep-alive',
  'transfer-encoding',
  'content-length',
  'content-type',
  'expect',
  'upgrade',
  'te',
  'trailer',
])
