import { Counter, Gauge, type GaugeConfiguration, Histogram, type LabelValues, Registry } from 'prom-client'
import product from '../../package.json' with { type: 'json' }

/** The registry of this process; under `start` the admin port answers with the sum of all processes'. */
export const registry = new Registry()

/** Each metric of the product, once. Never a device, courier or route id as a label: ids grow without bound. */
export const metrics = {
  frames: counter('frames_total', 'Frames received', ['protocol', 'transport']),
  decodeErrors: counter('decode_errors_total', 'Frames refused as damaged or not understood', ['protocol', 'reason']),
  refused: counter('refused_total', 'Connections, datagrams and requests refused', ['reason']),
  received: counter('fixes_received_total', 'Fixes acknowledged: stored, held, filtered or repeated', ['protocol']),
  filtered: counter('fixes_filtered_total', 'Fixes that are not pushed', ['reason']),
  repaired: counter('fixes_repaired_total', 'Stored fixes whose time was repaired', ['reason']),
  delivered: counter('fixes_delivered_total', 'Fixes that the tracking API accepted'),
  appends: counter('appends_total', 'Group commits to Redis: fixes of many devices, one fsync'),
  clockAlarm: gauge('clock_alarm', 'Whether most devices are ahead of our clock, which must be wrong then'),
  notStored: counter('not_stored_total', 'Frames that were not acknowledged because they could not be stored', [
    'reason',
  ]),
  healed: counter('dispatch_healed_total', 'Times that the hand-out of lanes had stopped and was started again'),
  connections: gauge('connections', 'Open connections of devices', { labelNames: ['transport'] }),
  inFlightBytes: gauge('in_flight_bytes', 'Bytes of devices that wait to be stored'),
  ackDuration: histogram('ack_duration_seconds', 'From a frame to its answer', fineSeconds()),
  deliveryDelay: histogram('delivery_delay_seconds', 'From a fix stored to a fix delivered', coarseSeconds()),
  pushDuration: histogram('push_duration_seconds', 'Requests to the tracking API', coarseSeconds()),
  pushRequests: counter('push_requests_total', 'Requests to the tracking API', ['code']),
  configReloadSuccessful: gauge('config_last_reload_successful', 'Whether the configuration now on disk is in effect', {
    aggregator: 'min',
  }),
  buildInfo: gauge('build_info', 'The version that runs', { labelNames: ['version'], aggregator: 'first' }),
}
metrics.buildInfo.set({ version: product.version }, 1)

/**
 * Gauges of what all processes share, in the registry of the one that calls this: added up over several they would be wrong.
 * `refresh` sets them whenever they are read; `forget` leaves them without values; `unregister` ends them.
 */
export function operationGauges(refresh: () => Promise<void>) {
  const names: string[] = []
  const own = <Label extends string>(name: string, help: string, labelNames: Label[] = []) => {
    names.push(`waybridge_${name}`)
    return gauge(name, help, { labelNames, collect: refresh })
  }
  const discarded = stored('fixes_discarded_total', 'Held fixes given up, parked ones deleted', 'reason', refresh)
  names.push(discarded.name)
  const gauges = {
    waiting: own('fixes_waiting', 'Fixes stored and not yet delivered, without the parked ones'),
    parked: own('fixes_parked', 'Fixes that the tracking API refused'),
    held: own('fixes_held', 'Fixes kept until the configuration says where they belong', ['reason']),
    oldest: own(
      'oldest_waiting_timestamp_seconds',
      'When the oldest waiting fix was received; absent where none waits',
    ),
    difference: own('custody_difference', 'Fixes received less those accounted for: 0 whenever nothing moves'),
    devices: own('devices', 'Configured devices', ['state']),
    upstreamUp: own('upstream_up', 'Whether the tracking API takes what is pushed'),
    memory: own('redis_memory_used_ratio', 'Memory that Redis uses, of what it may'),
  }
  return {
    ...gauges,
    setDiscarded: discarded.set,
    forget() {
      discarded.set(new Map())
      for (const each of Object.values(gauges)) {
        each.reset()
        each.remove({})
      }
    },
    unregister: () => names.forEach((name) => registry.removeSingleMetric(name)),
  }
}

/** A sum that the hot path adds to; its counter takes it over when the metrics are read. */
export interface Cell {
  value: number
}

function counter<Label extends string>(name: string, help: string, labelNames: Label[] = []) {
  const cells: { readonly labels: LabelValues<Label>; readonly cell: Cell }[] = []
  const sum = new Counter<Label>({
    name: `waybridge_${name}`,
    help,
    labelNames,
    registers: [registry],
    collect() {
      for (const { labels, cell } of cells) {
        this.inc(labels, cell.value)
        cell.value = 0
      }
    },
  })
  return {
    inc: (labels: LabelValues<Label>, value = 1) => sum.inc(labels, value),
    cell(labels: LabelValues<Label>): Cell {
      const cell = { value: 0 }
      cells.push({ labels, cell })
      return cell
    },
  }
}

/**
 * A counter that is kept elsewhere. Of several processes, ended ones included, the highest counts: each has it from the same
 * place.
 */
function stored(name: string, help: string, label: string, collect: () => Promise<void>) {
  const sum = new Counter({
    name: `waybridge_${name}`,
    help,
    labelNames: [label],
    registers: [registry],
    aggregator: 'max',
    collect,
  })
  return {
    name: `waybridge_${name}`,
    /** By the value of its label. */
    set(values: ReadonlyMap<string, number>): void {
      sum.reset()
      for (const [value, number] of values) sum.inc({ [label]: value }, number)
    },
  }
}

function gauge<Label extends string>(
  name: string,
  help: string,
  options: Pick<Partial<GaugeConfiguration<Label>>, 'labelNames' | 'aggregator' | 'collect'> = {},
): Gauge<Label> {
  return new Gauge({ name: `waybridge_${name}`, help, registers: [registry], ...options })
}

function histogram(name: string, help: string, buckets: number[]): Histogram {
  return new Histogram({ name: `waybridge_${name}`, help, buckets, registers: [registry] })
}

function fineSeconds(): number[] {
  return [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]
}

function coarseSeconds(): number[] {
  return [0.01, 0.05, 0.1, 0.25, 0.5, 1, 2, 5, 10, 30, 60, 300, 900, 3600, 14400, 86400]
}
