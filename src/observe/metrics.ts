import {
  Counter,
  collectDefaultMetrics,
  Gauge,
  type GaugeConfiguration,
  Histogram,
  type LabelValues,
  Registry,
} from 'prom-client'
import product from '../../package.json' with { type: 'json' }

/** The registry of this process; under `start` the admin port answers with the sum of all processes'. */
export const registry = new Registry()

const SECONDS = [0.01, 0.05, 0.1, 0.25, 0.5, 1, 2, 5, 10, 30, 60, 300, 900, 3600, 14400, 86400]

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
  misunderstoodLeft: counter(
    'misunderstood_left_total',
    'Number of kept frames that are kept no more, because they are understood now or given up.',
    ['reason'],
  ),
  refused: counter('refused_total', 'Number of connections, datagrams and requests refused.', ['reason']),
  paused: counter(
    'pauses_total',
    'Number of times that a connection was not read for a while, by the limit that it met.',
    ['limit'],
  ),
  received: counter(
    'fixes_received_total',
    'Number of fixes acknowledged, whether stored, held, filtered or duplicate.',
    ['protocol'],
  ),
  filtered: counter('fixes_filtered_total', 'Number of fixes filtered: they are acknowledged and not pushed.', [
    'reason',
  ]),
  repaired: counter('fixes_repaired_total', 'Number of stored fixes whose time was repaired.', ['reason']),
  delivered: counter('fixes_delivered_total', 'Number of fixes that the tracking API accepted.'),
  appends: counter('appends_total', 'Number of group commits to Redis: fixes of many devices with one fsync.'),
  clockAlarm: gauge('clock_alarm', '1 while the clock of this machine is in doubt; else 0.'),
  notStored: counter('not_stored_total', 'Number of frames not acknowledged because they could not be stored.', [
    'reason',
  ]),
  slowScripts: counter('slow_scripts_total', 'Number of calls to Redis that took longer than 250 ms.', ['script']),
  eventLoopDelay: histogram(
    'event_loop_delay_seconds',
    'The longest time in each second for which a process was too busy to react.',
    [0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
  ),
  healed: counter('dispatch_healed_total', 'Number of times that the dispatcher had stopped and was restarted.'),
  connections: gauge('connections', 'Number of open connections of devices.', { labelNames: ['transport'] }),
  inFlightBytes: gauge('in_flight_bytes', 'Bytes received from devices that wait to be stored.'),
  ackDuration: histogram(
    'ack_duration_seconds',
    'Seconds from a frame to its acknowledgement.',
    [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
  ),
  deliveryDelay: histogram('delivery_delay_seconds', 'Seconds from the storing of a fix to its delivery.', SECONDS),
  pushDuration: histogram('push_duration_seconds', 'Seconds that a push request took.', SECONDS),
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
metrics.buildInfo.set({ version: product.version }, 1)
for (const reason of ['understood', 'no_position', 'other_company', 'not_needed', 'made_room', 'max_age'])
  metrics.misunderstoodLeft.inc({ reason }, 0)

/**
 * Adds Node's own metrics (`process_…`, `nodejs_…`) to this process. Left out are gauges that have no sum or mean over
 * processes (percentiles, limits), and those whose cost grows with the connections: with 14,000 open sockets, listing the open
 * files stops a process for 90 ms.
 */
export function collectNodeMetrics(): void {
  collectDefaultMetrics({ register: registry })
  for (const { name } of registry.getMetricsAsArray()) if (LEFT_OUT.test(name)) registry.removeSingleMetric(name)
}

const LEFT_OUT =
  /^(?:process_(?:open|max)_fds|nodejs_active_\w+|nodejs_eventloop_lag_(?:min|mean|stddev|p\d+)_seconds)$/

/**
 * Gauges of what all processes share, in the registry of the one process that calls this: a sum over several would be wrong.
 * `refresh` sets them whenever they are read; `forget` removes their values; `unregister` removes them.
 */
export function operationGauges(refresh: () => Promise<void>) {
  const names: string[] = []
  const own = <Label extends string>(name: string, help: string, labelNames: Label[] = []) => {
    names.push(`waybridge_${name}`)
    return { ...described(name, help), labelNames, collect: refresh }
  }
  // The sum over processes takes the highest value, since each start of the process reads the same one.
  const discarded = new Counter({
    ...own('fixes_discarded_total', 'Number of held or parked fixes discarded.', ['reason']),
    aggregator: 'max',
  })
  const gauges = {
    waiting: new Gauge(own('fixes_waiting', 'Number of fixes that wait in lanes, without parked ones.')),
    parked: new Gauge(own('fixes_parked', 'Number of parked fixes: the tracking API refused them.')),
    held: new Gauge(
      own('fixes_held', 'Number of held fixes: their device, route or time is not known yet.', ['reason']),
    ),
    misunderstood: new Gauge(
      own('misunderstood_frames', 'Number of kept frames that were not understood, by what their types hold.', [
        'kind',
      ]),
    ),
    oldest: new Gauge(
      own(
        'oldest_waiting_timestamp_seconds',
        'Unix time in seconds when the oldest waiting fix was received; absent while none waits.',
      ),
    ),
    difference: new Gauge(
      own('custody_difference', 'Number of received fixes minus those accounted for: 0 whenever nothing moves.'),
    ),
    devices: new Gauge(own('devices', 'Number of configured devices in each state.', ['state'])),
    upstreamUp: new Gauge(own('upstream_up', '1 while the tracking API accepts pushes, 0 while it is down.')),
    findings: new Gauge(own('findings', 'Number of findings: what is wrong now.', ['code', 'severity'])),
    memory: new Gauge(own('redis_memory_used_ratio', 'Share of its memory limit that Redis uses, 0 to 1.')),
    memoryUses: new Gauge(
      own(
        'redis_memory_share_ratio',
        'About what share of the memory of Redis one use takes; marks, held and parked fixes may have 0.2 each, frames that were not understood 0.1.',
        ['use'],
      ),
    ),
  }
  return {
    ...gauges,
    /** By reason. */
    setDiscarded(fixes: ReadonlyMap<string, number>): void {
      discarded.reset()
      for (const [reason, number] of fixes) discarded.inc({ reason }, number)
    },
    forget() {
      discarded.reset()
      for (const each of Object.values(gauges)) {
        each.reset()
        each.remove({})
      }
    },
    unregister: () => names.forEach((name) => registry.removeSingleMetric(name)),
  }
}

/** What the path of a frame counts for one protocol. */
export function frameCounters(protocol: string) {
  const frames = (transport: string) => metrics.frames.cell({ protocol, transport })
  return {
    frames: { tcp: frames('tcp'), udp: frames('udp'), http: frames('http'), mqtt: frames('mqtt') },
    received: metrics.received.cell({ protocol }),
  }
}

/** A sum that the hot path adds to; reading the metrics moves it to its counter. */
interface Cell {
  value: number
}

function counter<Label extends string>(name: string, help: string, labelNames: Label[] = []) {
  const cells: { readonly labels: LabelValues<Label>; readonly cell: Cell }[] = []
  const sum = new Counter<Label>({
    ...described(name, help),
    labelNames,
    collect() {
      for (const { labels, cell } of cells) {
        this.inc(labels, cell.value)
        cell.value = 0
      }
    },
  })
  const cell = (labels: LabelValues<Label>): Cell => {
    const made = { value: 0 }
    cells.push({ labels, cell: made })
    return made
  }
  return Object.assign(sum, { cell })
}

function gauge<Label extends string>(name: string, help: string, options: Partial<GaugeConfiguration<Label>> = {}) {
  return new Gauge<Label>({ ...described(name, help), ...options })
}

function histogram(name: string, help: string, buckets: number[]): Histogram {
  return new Histogram({ ...described(name, help), buckets })
}

function described(name: string, help: string) {
  return { name: `waybridge_${name}`, help, registers: [registry] }
}
