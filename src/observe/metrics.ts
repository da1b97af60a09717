import { collectDefaultMetrics } from 'prom-client'
import { VERSION } from '../version.ts'
import { counter, counterBy, gauge, gaugeCell, histogram, registry } from './cells.ts'

export { registry }

/** From a fix that is delivered at once to the backlog of a day. */
const DELAYS = [0.05, 0.1, 0.25, 0.5, 1, 2, 5, 10, 30, 60, 300, 900, 3600, 14400, 86400]
/** `push.timeout` ends a request, after 60 s by default. */
const REQUEST_SECONDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20, 30, 45, 60]

/**
 * Why a frame is not stored. `misunderstood`: there is no room for further frames of its device that are not understood; `flood`:
 * its device sends too much; `fault`: an error of ours.
 */
const OBSTACLES = ['roster', 'redis', 'memory', 'parked', 'misunderstood', 'flood', 'fault'] as const
export type Obstacle = (typeof OBSTACLES)[number]

/** Why a connection, a datagram, a request or a message is refused. */
const REFUSED = [
  // By who the sender is.
  ...(['unknown_device', 'wrong_secret', 'not_permitted', 'other_device', 'network', 'unknown_topic'] as const),
  // By what it sends.
  ...([
    'content_encoding',
    'damaged_body',
    'frame_too_long',
    'noise',
    'headers_too_long',
    'malformed_request',
    'malformed_packet',
    'pipelining',
  ] as const),
  ...(['protocol_version', 'proxy_header', 'tls', 'no_source_port', 'empty_datagram', 'own_port'] as const),
  // By how it behaves.
  ...(['not_identified', 'idle', 'not_reading', 'flood', 'guesses', 'reply_too_long'] as const),
  // By what there is room for.
  ...(['max_connections', 'max_per_ip', 'max_per_device', 'memory', 'overload', 'not_ready'] as const),
] as const
export type RefusedReason = (typeof REFUSED)[number]

/** Each metric of the product, once. Never a device, courier or route id as a label: ids grow without bound. */
export const metrics = {
  frames: counter('frames_total', 'Number of frames received.', ['protocol', 'transport']),
  decodeErrors: counter('decode_errors_total', 'Number of frames that were damaged or not understood.', [
    'protocol',
    'reason',
  ]),
  misunderstood: counter(
    'misunderstood_total',
    'Number of frames that were not understood and are kept as they came.',
    ['protocol', 'reason'],
  ),
  misunderstoodLeft: counterBy(
    'misunderstood_left_total',
    'Number of kept frames that are kept no more, because they are understood now or given up.',
    'reason',
    ['understood', 'no_position', 'other_company', 'not_needed', 'made_room', 'max_age'],
  ),
  refused: counterBy('refused_total', 'Number of connections, datagrams and requests refused.', 'reason', REFUSED),
  unidentified: counter(
    'unidentified_total',
    'Number of senders whose protocol or device was not found out, by the listener that they came to.',
    ['listener'],
  ),
  paused: counterBy(
    'pauses_total',
    'Number of times that a connection was not read for a while, by the limit that it met.',
    'limit',
    ['connection', 'device', 'network', 'connections', 'logins', 'failures', 'unidentified'],
  ),
  received: counter(
    'fixes_received_total',
    'Number of fixes acknowledged, whether stored, held, filtered or duplicate.',
    ['protocol'],
  ),
  filtered: counterBy(
    'fixes_filtered_total',
    'Number of fixes filtered: they are acknowledged and not pushed.',
    'reason',
    ['invalid', 'zero', 'out_of_range', 'past', 'clock', 'no_route', 'duplicate'],
  ),
  repaired: counterBy('fixes_repaired_total', 'Number of stored fixes whose time was repaired.', 'reason', [
    'gps_week',
  ]),
  delivered: counter('fixes_delivered_total', 'Number of fixes that the tracking API accepted.'),
  verified: counterBy(
    'verified_fixes_total',
    'Number of delivered fixes that were looked for in the tracking API.',
    'result',
    ['found', 'missing', 'unknown'],
  ),
  appends: counter('appends_total', 'Number of group commits to Redis: fixes of many devices with one fsync.'),
  clockAlarm: gauge('clock_alarm', '1 while the clock of this machine is in doubt; else 0.'),
  notStored: counterBy(
    'not_stored_total',
    'Number of frames not acknowledged because they could not be stored.',
    'reason',
    OBSTACLES,
  ),
  slowScripts: counter('slow_scripts_total', 'Number of calls to Redis that took longer than 250 ms.', ['script']),
  eventLoopDelay: histogram(
    'event_loop_delay_seconds',
    'The longest time in each second for which a process was too busy to react.',
    [0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
  ),
  healed: counter('dispatch_healed_total', 'Number of times that the dispatcher had stopped and was restarted.'),
  connections: gauge('connections', 'Number of open connections of devices.', { labelNames: ['transport'] }),
  bridgeConnected: gauge('bridge_connected', 'Number of gateways that are subscribed at a broker of `mqtt.bridges`.', {
    labelNames: ['bridge'],
  }),
  bridgeMessages: counter(
    'bridge_messages_total',
    'Number of messages of a broker of `mqtt.bridges`, by what became of them; `not_stored` ones come again.',
    ['bridge', 'outcome'],
  ),
  inFlightBytes: gaugeCell('in_flight_bytes', 'Bytes received from devices that wait to be stored.'),
  ackDuration: histogram(
    'ack_duration_seconds',
    'Seconds from a frame to its acknowledgement.',
    [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30],
  ),
  deliveryDelay: histogram('delivery_delay_seconds', 'Seconds from the storing of a fix to its delivery.', DELAYS),
  pushDuration: histogram('push_duration_seconds', 'Seconds that a push request took.', REQUEST_SECONDS),
  pushRequests: counter('push_requests_total', 'Number of push requests, by HTTP status or kind of failure.', ['code']),
  configReloadSuccessful: gauge(
    'config_last_reload_successful',
    '1 if the configuration on disk is in effect, 0 if it was refused.',
    { aggregator: 'min' },
  ),
  buildInfo: gauge('build_info', 'Always 1; the label is the version that runs.', {
    labelNames: ['version'],
    aggregator: 'first',
  }),
}
metrics.buildInfo.set({ version: VERSION }, 1)
for (const transport of ['tcp', 'http', 'mqtt']) metrics.connections.set({ transport }, 0)
for (const code of [
  '200',
  '403',
  '404',
  '422',
  '429',
  '500',
  '502',
  '503',
  'timeout',
  'refused',
  'reset',
  'not_the_api',
])
  metrics.pushRequests.inc({ code }, 0)

/**
 * Adds Node's own metrics (`process_…`, `nodejs_…`) to this process, except gauges without a meaningful sum or mean over
 * processes (percentiles, limits), and those whose cost grows with the connections: with 14,000 open sockets, listing the
 * open files stops a process for 90 ms. Node's event loop monitor, which wakes a process a hundred times a second, is off;
 * `eventLoopDelay` replaces it.
 */
export function collectNodeMetrics(): void {
  collectDefaultMetrics({ register: registry, eventLoopMonitoringPrecision: NEVER_MS })
  for (const { name } of registry.getMetricsAsArray()) if (LEFT_OUT.test(name)) registry.removeSingleMetric(name)
}

/** The longest interval of a timer. */
const NEVER_MS = 2 ** 31 - 1
const LEFT_OUT =
  /^(?:process_(?:open|max)_fds|nodejs_active_\w+|nodejs_eventloop_lag_(?:min|max|mean|stddev|p\d+)_seconds)$/

/** Returns the counters of one protocol, created at its first frame. */
export function frameCounters(protocol: string) {
  for (const reason of ['checksum', 'truncated', 'malformed', 'unsupported', 'entry'])
    metrics.decodeErrors.inc({ protocol, reason }, 0)
  for (const reason of ['not_read', 'entries', 'unknown_type']) metrics.misunderstood.inc({ protocol, reason }, 0)
  const frames = (transport: string) => metrics.frames.cell({ protocol, transport })
  return {
    frames: { tcp: frames('tcp'), udp: frames('udp'), http: frames('http'), mqtt: frames('mqtt') },
    received: metrics.received.cell({ protocol }),
  }
}

/** What a gateway reports beside its observations: totals since its start, and open connections. */
export type GatewayFigures = Awaited<ReturnType<typeof gatewayFigures>>

/**
 * Resolves to the figures of a gateway. `lastFixAt`: when a fix was last acknowledged, ms UTC, to within the second between
 * two calls; undefined: none since the start.
 */
export async function gatewayFigures() {
  const [connections, frames, received] = await Promise.all([
    metrics.connections.get(),
    metrics.frames.get(),
    metrics.received.get(),
  ])
  const fixes = sumOf(received.values)
  if (fixes > last.fixes) last = { fixes, at: Date.now() }
  return { connections: sumOf(connections.values), frames: sumOf(frames.values), lastFixAt: last.at }
}

let last: { readonly fixes: number; readonly at?: number } = { fixes: 0 }

function sumOf(values: readonly { readonly value: number }[]): number {
  return values.reduce((sum, { value }) => sum + value, 0)
}
