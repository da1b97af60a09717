import { Counter, Gauge } from 'prom-client'
import { registry } from './metrics.ts'

/**
 * Gauges of what all processes share, registered by one process only, since a sum over several would be wrong. `refresh` sets
 * them whenever they are read; `forget` removes those that depend on Redis; `unregister` removes all.
 */
export function operationGauges(refresh: () => Promise<void>) {
  const names: string[] = []
  const own = <Label extends string>(name: string, help: string, labelNames: Label[] = []) => {
    names.push(`waybridge_${name}`)
    return { name: `waybridge_${name}`, help, registers: [registry], labelNames, collect: refresh }
  }
  const gauge: MakeGauge = (...described) => new Gauge(own(...described))
  // Aggregated as the maximum over processes, since each start of the process reads the same total.
  const total = <Label extends string>(...described: Parameters<typeof own<Label>>) =>
    new Counter({ ...own(...described), aggregator: 'max' })
  const known = {
    ready: gauge('ready', '1 while /readyz says that everything is ready, else 0.'),
    redisUp: gauge('redis_up', '1 while Redis answers, else 0: then what is known from Redis alone is absent.'),
    findings: gauge('findings', 'Number of findings: what is wrong now.', ['code', 'severity']),
  }
  const totals = {
    discarded: total('fixes_discarded_total', 'Number of held or parked fixes discarded.', ['reason']),
    redelivered: total(
      'fixes_redelivered_total',
      'Number of delivered fixes that the tracking API accepted once more, for the route where they belong.',
    ),
    trialFrames: total(
      'trial_frames_total',
      'Number of frames that came by way of a trial: `stored` ones are stored or noted, `missed` ones are not.',
      ['outcome'],
    ),
    copyDelivered: total('copy_fixes_delivered_total', 'Number of fixes that the receiver of a copy accepted.', [
      'copy',
    ]),
    copyDiscarded: total('copy_fixes_discarded_total', 'Number of fixes for a copy that were given up or deleted.', [
      'copy',
    ]),
    restarts: total('process_restarts_total', 'Number of times that processes of the role were started again.', [
      'role',
    ]),
  }
  const gauges = { ...storedGauges(gauge), ...liveGauges(gauge) }
  return {
    ...known,
    ...gauges,
    /** Sets a total by its label; `''`: it has none. */
    setTotal(name: keyof typeof totals, byLabel: Iterable<readonly [label: string, count: number]>) {
      totals[name].reset()
      for (const [label, count] of byLabel) totals[name].labels(...(label === '' ? [] : [label])).inc(count)
    },
    forget() {
      for (const each of [...Object.values(totals), ...Object.values(gauges)]) {
        each.reset()
        each.remove({})
      }
    },
    unregister: () => names.forEach((name) => registry.removeSingleMetric(name)),
  }
}

type MakeGauge = <Label extends string>(name: string, help: string, labelNames?: Label[]) => Gauge<Label>

/** Gauges of what Redis holds. */
function storedGauges(gauge: MakeGauge) {
  return {
    waiting: gauge('fixes_waiting', 'Number of fixes that wait in lanes, without parked ones.'),
    parked: gauge('fixes_parked', 'Number of parked fixes: the tracking API refused them.'),
    copyWaiting: gauge('copy_fixes_waiting', 'Number of fixes that wait for a copy.', ['copy']),
    copyParked: gauge('copy_fixes_parked', 'Number of parked fixes of a copy: its receiver refused them.', ['copy']),
    held: gauge('fixes_held', 'Number of held fixes: their device, route or time is not known yet.', ['reason']),
    misunderstood: gauge(
      'misunderstood_frames',
      'Number of kept frames that were not understood, by what their types hold.',
      ['kind'],
    ),
    oldest: gauge(
      'oldest_waiting_timestamp_seconds',
      'Unix time in seconds when the oldest waiting fix was received; absent while none waits.',
    ),
    difference: gauge(
      'custody_difference',
      'Number of received fixes minus those accounted for: 0 whenever nothing moves.',
    ),
    devices: gauge('devices', 'Number of configured devices in each state.', ['state']),
    rosterLines: gauge('roster_lines', 'Number of lines of the roster, by when they hold.', ['state']),
    rosterWritten: gauge(
      'roster_last_write_timestamp_seconds',
      'Unix time in seconds when the roster was written last.',
    ),
    memory: gauge('redis_memory_used_ratio', 'Share of its memory limit that Redis uses, 0 to 1.'),
    memoryUses: gauge(
      'redis_memory_share_ratio',
      'About what share of the memory of Redis one use takes; marks, held and parked fixes may have 0.2 each, frames that were not understood 0.1.',
      ['use'],
    ),
  }
}

/** Gauges of the figures that processes report once a second. */
function liveGauges(gauge: MakeGauge) {
  return {
    upstreamUp: gauge(
      'upstream_up',
      '1 while the tracking API accepts pushes, 0 while it is down; of several the worst.',
    ),
    apiUp: gauge('api_up', '1 while a tracking API accepts pushes, 0 while it is down.', ['api']),
    apiInFlight: gauge('api_push_in_flight', 'Number of push requests to an API that wait for their answer.', ['api']),
    inFlight: gauge('push_in_flight', 'Number of push requests that wait for their answer.'),
    oldestInFlight: gauge(
      'push_oldest_in_flight_seconds',
      'Seconds that the oldest push request has waited for its answer.',
    ),
    lastDelivery: gauge(
      'last_delivery_timestamp_seconds',
      'Unix time in seconds when the tracking API accepted fixes last; absent before the first ones since the start.',
    ),
    lastFix: gauge(
      'last_fix_timestamp_seconds',
      'Unix time in seconds when a fix was acknowledged last; absent before the first one since the start.',
    ),
    processUp: gauge(
      'process_up',
      '1 while the processes of the role give signs of life, 0 while one does not or there is none.',
      ['role'],
    ),
  }
}
